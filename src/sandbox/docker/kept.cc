#include "sandbox/docker/kept.h"

#include "base/digest.h"

namespace cordon::sandbox::docker {

std::string kept_name(const std::string& session_directory) {
  return "cordon-kept-" + sha256(session_directory).hex().substr(0, 24);
}

bool may_be_kept(const Profile& profile) {
  return !profile.session.path.empty() && profile.workspace.access != WorkspaceAccess::overlay;
}

std::string made_of(const container::Layout& layout, const ContainerRequest& request) {
  Sha256 hash;
  hash.add_field(layout.profile.image).add_field(request.user);
  for (const container::Place& place : layout.places) {
    // What is of this run's stage is another file at each run, with the same content.
    hash.add_field(place.target).add_field(place.ours ? "" : place.source).add_field(place.writable ? "rw" : "ro");
  }
  for (const std::string& place : layout.command.places) hash.add_field(place);
  const Limits& limits = layout.profile.limits;
  for (const std::uint64_t limit :
       {limits.memory_bytes, limits.pids, limits.file_bytes, limits.open_files, limits.cpu_ms}) {
    hash.add_field(std::to_string(limit));
  }
  hash.add_field(std::to_string(static_cast<std::int64_t>(limits.cpus * 1000)));
  return hash.finish().hex();
}

Result<std::optional<Kept>> find_kept(const Engine& engine, const std::string& session_directory) {
  const auto state = TRY(engine.inspect(kept_name(session_directory)));
  if (!state || !state->running) return std::optional<Kept>();
  const auto label = [&](const char* name) {
    const auto found = state->labels.find(name);
    return found == state->labels.end() ? std::string() : found->second;
  };
  if (label(key_label) != session_directory) return std::optional<Kept>();
  return std::optional(Kept{state->id, session_directory, label(drift_label)});
}

}  // namespace cordon::sandbox::docker
