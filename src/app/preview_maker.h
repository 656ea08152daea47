// The process that makes the preview of what was just queued, while whoever asked has their answer already.
#pragma once

#include <string>

#include "guard/guard.h"

namespace cordon::app {

/// Starts this program anew as `cordon queue preview ID --background`, with the lock as its standard input.
guard::PreviewMaker preview_maker(const std::string& state_dir);

}  // namespace cordon::app
