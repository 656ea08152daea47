// Containers that are kept between runs, one for each session directory: a program is started in one that is there,
// which takes a fraction of making a new one. It holds nothing of its own: HOME, /tmp and the workspace are the host's,
// so one that is gone is made again and nothing is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/container/layout.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/request.h"

namespace cordon::sandbox::docker {

/// It ends by itself when nobody came for so long, or when it is so old.
constexpr std::uint64_t kept_idle_seconds = 15 * 60;
constexpr std::uint64_t kept_life_seconds = 6 * 60 * 60;

/// Where sockets of runs in a kept container appear inside.
constexpr const char* inner_calls = "/.cordon/calls";

struct Kept {
  std::string id;
  std::string session;  // the session's directory
  std::string made_of;  // digest of what it was made from
};

/// The name that the one of this session has.
std::string kept_name(const std::string& session_directory);

/// Whether a run may use one: it has a session, and what it sees is not thrown away after it.
bool may_be_kept(const Profile& profile);

/// Over all that is fixed when a container is made: mounts, limits, image, user.
std::string made_of(const container::Layout& layout, const ContainerRequest& request);

/// The one of this session that runs now.
Result<std::optional<Kept>> find_kept(const Engine& engine, const std::string& session_directory);

}  // namespace cordon::sandbox::docker
