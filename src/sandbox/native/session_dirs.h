// HOME and /tmp of a session, on the host's disk.
#pragma once

#include <string>

#include "base/result.h"
#include "model/profile.h"

namespace cordon::sandbox::native {

struct SessionDirectories {
  std::string home;
  std::string temporary;
};

/// Makes them where they are missing and writes the generated ~/.gitconfig. What a sandbox left in its place (a link,
/// say) is never followed.
Result<SessionDirectories> prepare_session(const SessionDirectory& session, const std::string& workspace);

std::string gitconfig_for(const SessionDirectory& session, const std::string& workspace);

}  // namespace cordon::sandbox::native
