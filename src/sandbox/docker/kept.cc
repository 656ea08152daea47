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
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    const container::Place& place = layout.places[i];
    if (place.ours) continue;  // of this run's stage: others at each run, the same in content
    hash.add_field(place.target).add_field(place.source).add_field(place.writable ? "rw" : "ro");
    hash.add_field(layout.command.places[i]);
  }
  for (const container::Place& place : layout.places) {
    if (place.ours) hash.add_field(place.target);
  }
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
