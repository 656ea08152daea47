#include "sandbox/preview/journal.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "sandbox/preview/change.h"
#include "sys/file.h"

namespace cordon::sandbox::preview {

namespace {

constexpr std::size_t largest_journal = 256UL << 20;
constexpr const char* words[] = {"place", "exchange", "remove", "mode"};
constexpr const char* states[] = {"staging", "applying", "applied"};

tl::unexpected<Error> damaged() { return fail(Fault::corrupt, "the journal of a commit cannot be read"); }

template <class Value, std::size_t count>
std::optional<Value> value_named(const char* const (&names)[count], const Json& json) {
  for (std::size_t i = 0; i < count; ++i) {
    if (json == names[i]) return static_cast<Value>(i);
  }
  return std::nullopt;
}

Result<Operation> operation_from(const Json& json) {
  if (!json.is_array() || json.size() != 4 || !json[1].is_string() || !json[2].is_string() ||
      !json[3].is_number_unsigned()) {
    return damaged();
  }
  const auto what = value_named<Operation::Do>(words, json[0]);
  auto path = from_base64(json[1].get<std::string>());
  Operation operation{.staged = json[2].get<std::string>(), .inode = json[3].get<std::uint64_t>()};
  const bool is_number = !operation.staged.empty() && operation.staged.size() < 10 &&
                         operation.staged.find_first_not_of("0123456789") == std::string::npos;
  if (!what || !path || !is_proper_path(*path) || !is_number) return damaged();
  operation.what = *what;
  operation.path = *std::move(path);
  return operation;
}

}  // namespace

std::string to_text(const Journal& journal) {
  Json operations = Json::array();
  for (const Operation& operation : journal.operations) {
    operations.push_back(
        {words[static_cast<int>(operation.what)], to_base64(operation.path), operation.staged, operation.inode});
  }
  return Json{{"version", 1},
              {"state", states[static_cast<int>(journal.state)]},
              {"device", journal.device},
              {"inode", journal.inode},
              {"operations", std::move(operations)}}
      .dump();
}

Result<Journal> journal_from(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("version") || json["version"] != 1) return damaged();
  for (const char* key : {"state", "device", "inode", "operations"}) {
    if (!json.contains(key)) return damaged();
  }
  const auto state = value_named<Journal::State>(states, json["state"]);
  if (!state || !json["device"].is_number_unsigned() || !json["inode"].is_number_unsigned() ||
      !json["operations"].is_array()) {
    return damaged();
  }
  Journal journal{.state = *state,
                  .device = json["device"].get<std::uint64_t>(),
                  .inode = json["inode"].get<std::uint64_t>(),
                  .operations = {}};
  for (const Json& one : json["operations"]) journal.operations.push_back(TRY(operation_from(one)));
  return journal;
}

Result<void> write_journal(const std::string& directory, const Journal& journal) {
  return sys::replace_file(directory + "/journal.json", to_text(journal), 0600);
}

Result<std::optional<Journal>> read_journal(const std::string& directory) {
  const auto text = TRY(sys::read_file_if_exists(directory + "/journal.json", largest_journal));
  if (!text) return std::optional<Journal>();
  return std::optional(TRY(journal_from(*text)));
}

}  // namespace cordon::sandbox::preview
