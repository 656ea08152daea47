// Showing one record without showing the others: C2SP tlog-proof.
#include <algorithm>

#include "audit/day_open.h"
#include "audit/day_reader.h"
#include "audit/log.h"
#include "audit/log_state.h"

namespace cordon::audit {

namespace {

Result<std::optional<DayReader>> day_with(const sys::Directory& directory, std::uint64_t seq) {
  auto days = days_among(TRY(directory.list()), ".jsonl");
  for (auto day = days.rbegin(); day != days.rend(); ++day) {
    auto reader = TRY(DayReader::open(directory, *day));
    if (reader && reader->size() > 0 && TRY(reader->first_seq()) <= seq) return reader;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> Log::prove(std::uint64_t seq) {
  const sys::Directory& directory = state_->store.directory();
  // The newest record is proven too, so what is not signed yet is signed first.
  CHECK_OK(checkpoint());
  const auto holder = TRY(day_with(directory, seq));
  if (!holder) return fail(Fault::invalid_input, "record {} is not in the log any more: its day was deleted", seq);
  auto note = TRY(directory.read(seal_file(holder->day()), 4096));
  if (!note) note = TRY(directory.read("checkpoint", 4096));
  // Opened after the note was read: others write meanwhile, and all that a note signs must be seen.
  const auto reader = TRY(DayReader::open(directory, holder->day()));
  if (!reader) return fail(Fault::conflict, "the day of record {} has just been deleted", seq);
  const auto head = note ? state_->store.signer().read(*note) : std::nullopt;
  const auto before = parse_day_open(TRY(reader->line_at(0)));
  if (!head || !before) return fail(Fault::corrupt, "the log is damaged: run `cordon audit verify`");
  if (seq >= head->size)
    return fail(Fault::invalid_input, "there is no record {}; the last is {}", seq, head->size - 1);

  std::string record;
  std::vector<Digest> leaves;
  CHECK_OK(reader->forwards(0, [&](std::string_view line, std::uint64_t) {
    if (before->size() + leaves.size() == head->size) return Continue::no;
    if (before->size() + leaves.size() == seq) record = line;
    leaves.push_back(leaf_hash(line));
    return Continue::yes;
  }));
  if (before->size() + leaves.size() != head->size) {
    return fail(Fault::corrupt, "the log is damaged: run `cordon audit verify`");
  }
  std::string proof = fmt::format("c2sp.org/tlog-proof@v1\nextra {}\nindex {}\n", to_base64(record), seq);
  for (const Digest& hash : inclusion_path(*before, leaves, seq)) proof += to_base64(hash.view()) + "\n";
  return proof + "\n" + *note;
}

}  // namespace cordon::audit
