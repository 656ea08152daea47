#include "approve/ticket.h"

#include <unistd.h>

#include <filesystem>

#include "sys/file.h"

namespace cordon::approve {

namespace {

constexpr auto kept_at_most = std::chrono::hours(24);

/// Those that nobody used.
void forget_old(const std::string& root, Time now) {
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(root, ignored)) {
    const auto text = sys::read_file(file.path().string(), 256);
    const auto until = text ? from_rfc3339(text->substr(0, text->find(' '))) : std::nullopt;
    if (!until || *until + kept_at_most < now) std::filesystem::remove(file.path(), ignored);
  }
}

}  // namespace

Digest ticket_subject(std::string_view command, std::string_view working_dir, std::string_view agent) {
  return Sha256().add_field(command).add_field(working_dir).add_field(agent).finish();
}

std::string Tickets::path_of(std::string_view ticket) const { return root_ + "/" + sha256(ticket).hex(); }

Result<std::string> Tickets::issue(const Digest& subject, Time until) const {
  CHECK_OK(sys::ensure_private_directory(root_));
  forget_old(root_, until);
  std::string ticket = to_hex(TRY(random_bytes(32)));
  CHECK_OK(sys::create_file(path_of(ticket), to_rfc3339(until) + " " + subject.hex(), 0600));
  return ticket;
}

Result<bool> Tickets::take(std::string_view ticket, const Digest& subject, Time now) const {
  const std::string path = path_of(ticket);
  const auto text = TRY(sys::read_file_if_exists(path, 256));
  // Of two that try at once only one removes it.
  if (!text || ::unlink(path.c_str()) != 0) return false;
  const std::size_t space = text->find(' ');
  if (space == std::string::npos) return fail(Fault::corrupt, "{} is damaged", path);
  const auto until = from_rfc3339(text->substr(0, space));
  const auto kept = Digest::from_hex(text->substr(space + 1));
  return until && kept && now < *until && *kept == subject;
}

}  // namespace cordon::approve
