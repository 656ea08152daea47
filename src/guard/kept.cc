#include "guard/kept.h"

#include "base/digest.h"
#include "base/text.h"
#include "sys/file.h"

namespace cordon::guard {

namespace {

/// What a container is made from, as the settings say it.
std::string digest_of(const SandboxSettings& settings, const Isolator& isolator) {
  Sha256 hash;
  hash.add_field(isolator.image).add_field(name_of(settings.workspace.value)).add_field(settings.docker.user.value);
  for (const BindSetting& bind : settings.binds) hash.add_field(bind.text()).add_field(bind.resolved);
  const LimitSettings& limits = settings.limits;
  for (const std::int64_t limit :
       {limits.memory_bytes.value, limits.processes.value, limits.disk_bytes.value, limits.millicpus.value,
        settings.docker.idle_ms.value, settings.docker.age_ms.value}) {
    hash.add_field(std::to_string(limit));
  }
  return hash.finish().hex();
}

std::string note_of(const Session& session) { return session.directory + "/made-by"; }

Result<std::unique_ptr<sandbox::docker::DockerSandbox>> docker_of(const config::Sources& sources) {
  return sandbox::docker::DockerSandbox::open(
      {sources.state_dir + "/sandbox", sandbox::docker::usual_sockets(sources.engine_sockets)});
}

}  // namespace

Result<void> check_drift(const Session& session, const SandboxSettings& settings, const Isolator& isolator,
                         const sandbox::docker::DockerSandbox& docker) {
  constexpr std::size_t room = 128;
  const std::string wanted = digest_of(settings, isolator);
  const auto before = TRY(sys::read_file_if_exists(note_of(session), room));
  if (!before || *before == wanted) return {};
  if (!TRY(sandbox::docker::find_kept(docker.engine(), session.directory)).empty()) {
    return fail(Fault::conflict,
                "the settings of this sandbox changed since it was started, and it lives by the old ones; begin anew: "
                "cordon sandbox recreate --keep-files --session '{}'",
                visible(session.key, Lines::escape));
  }
  return {};
}

Result<void> note_settings(const Session& session, const SandboxSettings& settings, const Isolator& isolator) {
  constexpr std::size_t room = 128;
  const std::string wanted = digest_of(settings, isolator);
  const auto before = TRY(sys::read_file_if_exists(note_of(session), room));
  if (before && *before == wanted) return {};
  return sys::replace_file_unsynced(note_of(session), wanted, 0600);
}

std::map<std::string, sandbox::docker::Kept> kept_sandboxes(const config::Sources& sources) {
  std::map<std::string, sandbox::docker::Kept> by_session;
  const auto docker = docker_of(sources);
  const auto kept = docker ? (*docker)->kept() : tl::make_unexpected(docker.error());
  if (!kept) return by_session;
  for (const sandbox::docker::Kept& one : *kept) by_session.emplace(one.session, one);
  return by_session;
}

Result<void> end_kept(const config::Sources& sources, const std::string& session_directory) {
  // Also one that its engine has forgotten: nobody calls it any more, and it ends by itself.
  TRY(sandbox::docker::KeptPlace::enter(session_directory)).forget();
  const auto docker = docker_of(sources);
  if (!docker) return {};  // without an engine there is none
  for (const auto& kept : TRY(sandbox::docker::find_kept((*docker)->engine(), session_directory))) {
    CHECK_OK((*docker)->end(kept));
  }
  return {};
}

}  // namespace cordon::guard
