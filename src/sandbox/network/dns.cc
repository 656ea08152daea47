#include "sandbox/network/dns.h"

#include <algorithm>

#include "base/text.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::uint16_t internet = 1;
constexpr std::uint16_t alias = 5;
constexpr std::size_t most_records = 256;

void append_number(std::string& bytes, std::uint16_t value) {
  bytes.push_back(static_cast<char>(value >> 8));
  bytes.push_back(static_cast<char>(value));
}

tl::unexpected<Error> malformed() { return fail(Fault::corrupt, "the name server's answer is malformed"); }

class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}
  std::size_t at = header_bytes;

  Result<std::uint32_t> number(std::size_t width) {
    if (bytes_.size() < at + width) return malformed();
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes_[at + i]);
    at += width;
    return value;
  }
  Result<std::string_view> take(std::size_t length) {
    if (bytes_.size() < at + length) return malformed();
    at += length;
    return bytes_.substr(at - length, length);
  }
  /// In lower case, labels joined by dots. Pointers lead backwards only, so that there is no circle.
  Result<std::string> name() {
    std::string made;
    std::size_t cursor = at;
    std::size_t before = at;
    bool jumped = false;
    for (;;) {
      if (cursor >= bytes_.size()) return malformed();
      const auto length = static_cast<std::uint8_t>(bytes_[cursor]);
      if ((length & 0xc0) == 0xc0) {
        if (cursor + 1 >= bytes_.size()) return malformed();
        const std::size_t target = std::size_t{length & 0x3fU} << 8 | static_cast<std::uint8_t>(bytes_[cursor + 1]);
        if (target >= before) return malformed();
        if (!jumped) at = cursor + 2;
        jumped = true;
        before = cursor = target;
        continue;
      }
      if (length > 63 || cursor + 1 + length > bytes_.size()) return malformed();
      if (length == 0) {
        if (!jumped) at = cursor + 1;
        return to_lower(made);
      }
      if (!made.empty()) made.push_back('.');
      made.append(bytes_.substr(cursor + 1, length));
      if (made.size() > 255) return malformed();
      cursor += 1 + length;
    }
  }

 private:
  std::string_view bytes_;
};

struct Record {
  std::string owner;
  std::uint32_t type;
  std::uint32_t ttl;
  std::string target;  // of an alias
  std::string_view content;
};

Result<Record> read_record(Message& message) {
  Record record;
  record.owner = TRY(message.name());
  record.type = TRY(message.number(2));
  const std::uint32_t record_class = TRY(message.number(2));
  record.ttl = TRY(message.number(4));
  const std::uint32_t length = TRY(message.number(2));
  const std::size_t content_at = message.at;
  if (record.type == alias) record.target = TRY(message.name());
  message.at = content_at;
  record.content = TRY(message.take(length));
  if (record_class != internet) record.type = 0;
  return record;
}

void add_address(const Record& record, RecordType type, DnsReply& reply) {
  if (record.type != static_cast<std::uint32_t>(type)) return;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(record.content[i]); };
  if (type == RecordType::a && record.content.size() == 4) {
    reply.addresses.push_back(Address::v4(std::uint32_t{byte(0)} << 24 | std::uint32_t{byte(1)} << 16 |
                                          std::uint32_t{byte(2)} << 8 | std::uint32_t{byte(3)}));
    reply.ttl = std::min(reply.ttl, record.ttl);
  }
  if (type == RecordType::aaaa && record.content.size() == 16) {
    Address::Bytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte(i);
    reply.addresses.push_back(Address::v6(bytes));
    reply.ttl = std::min(reply.ttl, record.ttl);
  }
}

}  // namespace

std::string dns_query(std::uint16_t id, std::string_view name, RecordType type) {
  std::string bytes;
  append_number(bytes, id);
  append_number(bytes, 0x0100);  // recursion desired
  for (const unsigned count : {1U, 0U, 0U, 0U}) append_number(bytes, static_cast<std::uint16_t>(count));
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), label.size() + 1));
    bytes.push_back(static_cast<char>(label.size()));
    bytes.append(label);
  }
  bytes.push_back('\0');
  append_number(bytes, static_cast<std::uint16_t>(type));
  append_number(bytes, internet);
  return bytes;
}

Result<DnsReply> parse_dns_reply(std::string_view bytes, std::uint16_t id, std::string_view name, RecordType type) {
  if (bytes.size() < header_bytes) return malformed();
  Message message(bytes);
  message.at = 0;
  const std::uint32_t answered = TRY(message.number(2));
  const std::uint32_t flags = TRY(message.number(2));
  const std::uint32_t questions = TRY(message.number(2));
  const std::uint32_t answers = TRY(message.number(2));
  message.at = header_bytes;
  if (answered != id || (flags & 0x8000) == 0 || questions != 1) return malformed();
  const std::string asked = TRY(message.name());
  const std::uint32_t asked_type = TRY(message.number(2));
  TRY(message.number(2));
  if (asked != name || asked_type != static_cast<std::uint32_t>(type)) return malformed();
  DnsReply reply;
  reply.truncated = (flags & 0x0200) != 0;
  reply.code = static_cast<int>(flags & 0xf);
  if (reply.truncated || reply.code != 0) return reply;
  reply.ttl = ~std::uint32_t{0};
  std::string wanted = asked;
  for (std::uint32_t i = 0; i < answers && i < most_records; ++i) {
    const Record record = TRY(read_record(message));
    if (record.owner != wanted) continue;
    if (record.type == alias) {
      wanted = record.target;
      reply.ttl = std::min(reply.ttl, record.ttl);
      continue;
    }
    add_address(record, type, reply);
  }
  if (reply.addresses.empty()) reply.ttl = 0;
  return reply;
}

}  // namespace cordon::sandbox::network
