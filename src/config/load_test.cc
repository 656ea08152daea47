#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "config/describe.h"
#include "config/testing.h"

namespace cordon::config {
namespace {

TEST(Load, DISABLED_Try) {
  Room room;
  room.write("SANDBOX.md", room.data("SANDBOX.md"));
  auto loaded = load(room.sources());
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  for (auto& row : describe(loaded->settings))
    std::cerr << row.key << " = " << row.text << "   " << row.origin_text() << "\n";
  for (auto& r : loaded->remarks) std::cerr << r.sentence << "\n";
  for (auto& r : loaded->ignored)
    std::cerr << r.key << " " << r.value << " " << r.origin.text() << " " << r.reason << "\n";
}

}  // namespace
}  // namespace cordon::config
