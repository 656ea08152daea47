#include "sandbox/network/tls.h"

#include "base/text.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::uint8_t handshake_record = 22;
constexpr std::uint8_t client_hello = 1;
constexpr std::size_t largest_record = 16384;
constexpr std::size_t largest_hello = 64 * 1024;
constexpr std::size_t record_header = 5;
constexpr std::size_t message_header = 4;
constexpr std::uint16_t server_name_extension = 0;
constexpr std::uint16_t encrypted_hello_extension = 0xfe0d;

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(Fault::invalid_input, "the TLS client's first message is malformed: {}", what);
}

/// Reads numbers and parts with a length before them; never past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  Result<std::uint32_t> number(std::size_t width) {
    if (bytes_.size() < width) return malformed("it is cut off");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes_[i]);
    bytes_.remove_prefix(width);
    return value;
  }
  Result<std::string_view> part(std::size_t width_of_length) {
    const std::uint32_t length = TRY(number(width_of_length));
    return take(length);
  }
  Result<std::string_view> take(std::size_t length) {
    if (bytes_.size() < length) return malformed("it is cut off");
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view bytes_;
};

/// The handshake message, put together from as many records as it takes.
Result<std::optional<std::string>> join_records(std::string_view bytes) {
  std::string message;
  for (;;) {
    if (message.size() >= message_header) {
      const std::size_t wanted = message_header + TRY(Reader(std::string_view(message).substr(1)).number(3));
      if (wanted > largest_hello) return malformed("it is too long");
      if (message.size() >= wanted) {
        if (message.size() > wanted) return malformed("something follows it in its record");
        return std::optional(std::move(message));
      }
    }
    if (bytes.size() < record_header) return std::optional<std::string>();
    Reader header(bytes);
    if (TRY(header.number(1)) != handshake_record) return malformed("it is broken up by another record");
    if (TRY(header.number(1)) != 3) return malformed("its version is unknown");
    TRY(header.number(1));
    const std::size_t length = TRY(header.number(2));
    if (length == 0 || length > largest_record) return malformed("a record has a wrong length");
    if (bytes.size() < record_header + length) return std::optional<std::string>();
    message.append(bytes.substr(record_header, length));
    if (message[0] != static_cast<char>(client_hello)) return malformed("it is no ClientHello");
    bytes.remove_prefix(record_header + length);
  }
}

Result<std::string> read_server_name(std::string_view extension) {
  Reader list(TRY(Reader(extension).part(2)));
  std::optional<std::string> name;
  while (!list.empty()) {
    const std::uint32_t kind = TRY(list.number(1));
    const std::string_view text = TRY(list.part(2));
    if (kind != 0 || name) return malformed("it names more than one server");
    name = text;
  }
  if (!name || name->empty()) return malformed("its server's name is empty");
  return *name;
}

Result<ClientHello> read_body(std::string_view body) {
  Reader reader(body);
  TRY(reader.number(2));  // version
  TRY(reader.take(32));   // random
  TRY(reader.part(1));    // session
  TRY(reader.part(2));    // ciphers
  TRY(reader.part(1));    // compression
  ClientHello hello;
  if (reader.empty()) return hello;
  Reader extensions(TRY(reader.part(2)));
  if (!reader.empty()) return malformed("something follows its extensions");
  while (!extensions.empty()) {
    const std::uint32_t kind = TRY(extensions.number(2));
    const std::string_view content = TRY(extensions.part(2));
    if (kind == encrypted_hello_extension) hello.encrypted = true;
    if (kind != server_name_extension) continue;
    if (hello.server_name) return malformed("it names its server twice");
    hello.server_name = TRY(read_server_name(content));
  }
  return hello;
}

}  // namespace

Result<std::optional<ClientHello>> read_client_hello(std::string_view bytes) {
  const auto message = TRY(join_records(bytes));
  if (!message) return std::optional<ClientHello>();
  return std::optional(TRY(read_body(std::string_view(*message).substr(message_header))));
}

Result<void> check_server_name(const ClientHello& hello, const Host& host) {
  if (host.address) return {};
  if (hello.encrypted) {
    return fail(Fault::denied,
                "its TLS hides the server's name (encrypted ClientHello), so it cannot be compared with {}",
                host.text());
  }
  if (!hello.server_name) return fail(Fault::denied, "its TLS names no server; {} was asked for", host.text());
  const auto named = parse_host(*hello.server_name);
  if (!named || *named != host) {
    return fail(Fault::denied, "its TLS names the server {} and {} was asked for",
                visible(hello.server_name->substr(0, 255), Lines::escape), host.text());
  }
  return {};
}

std::string_view tls_access_denied() { return std::string_view("\x15\x03\x01\x00\x02\x02\x31", 7); }

}  // namespace cordon::sandbox::network
