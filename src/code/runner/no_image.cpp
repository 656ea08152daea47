// Instead of image.cpp in the runner that makes the image.
#include "runner/embedded.h"

std::string_view cordon::code::runner::typescript_image() { return {}; }
