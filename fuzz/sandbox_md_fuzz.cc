// Whatever a SANDBOX.md holds: no crash; every error and warning names a line of the file; every setting's line exists.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/sandbox_md.h"
#include "config/settings_file.h"
#include "config/source_file.h"

namespace {

using namespace cordon::config;

void expect(bool holds) {
  if (!holds) std::abort();
}

void check(const cordon::Result<std::vector<Change>>& changes, const std::vector<Remark>& remarks, int lines) {
  for (const Remark& remark : remarks) expect(remark.sentence.starts_with("F:"));
  if (!changes) return expect(changes.error().sentence.starts_with("F:"));
  for (const Change& change : *changes) {
    expect(change.origin.line >= 1 && change.origin.line <= lines);
    for (const Item& item : change.items) expect(item.origin().line <= lines && !item.text().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (!check_source_text(text, "F")) return 0;
  static const Surroundings around{"/work", "/home/nobody", BindRules::create("/home/nobody", {"/state"}, {})};
  const auto lines = static_cast<int>(std::ranges::count(text, '\n') + std::ranges::count(text, '\r')) + 1;
  std::vector<Remark> remarks;
  check(read_sandbox_md(text, "F", around, remarks), remarks, lines);
  remarks.clear();
  check(read_settings_file(text, "F", Dialect::any, around, remarks), remarks, lines);
  return 0;
}
