#include "sandbox/network/socks.h"

namespace cordon::sandbox::network {

namespace {

constexpr char version = 5;
enum Command : std::uint8_t { connect = 1 };
enum Form : std::uint8_t { ipv4 = 1, domain = 3, ipv6 = 4 };

std::uint8_t byte(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | byte(bytes, at + i);
  return value;
}

Result<Host> host_of(Form form, std::string_view address) {
  if (form == ipv4) return Host{{}, Address::v4(number(address, 0, 4))};
  if (form == domain) return parse_host(address);
  Address::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte(address, i);
  return Host{{}, Address::v6(bytes)};
}

SocksRequest refused(SocksReply reply, std::string trouble) { return {std::nullopt, reply, std::move(trouble)}; }

}  // namespace

Result<std::optional<Parsed<bool>>> read_socks_greeting(std::string_view bytes) {
  if (bytes.empty()) return std::optional<Parsed<bool>>();
  if (bytes[0] != version) return fail(Fault::invalid_input, "only version 5 of SOCKS is spoken here");
  if (bytes.size() < 2) return std::optional<Parsed<bool>>();
  const std::size_t length = 2 + std::size_t{byte(bytes, 1)};
  if (bytes.size() < length) return std::optional<Parsed<bool>>();
  const bool none = bytes.substr(2, length - 2).find('\0') != std::string_view::npos;
  return std::optional(Parsed<bool>{none, length});
}

std::string socks_greeting_reply(bool accepted) { return {version, static_cast<char>(accepted ? 0 : 0xff)}; }

Result<std::optional<Parsed<SocksRequest>>> read_socks_request(std::string_view bytes) {
  constexpr std::size_t before_address = 4;
  const std::optional<Parsed<SocksRequest>> more;
  if (bytes.size() < before_address + 1) return more;
  if (bytes[0] != version || bytes[2] != 0) return fail(Fault::invalid_input, "a SOCKS request is malformed");
  std::size_t begin = before_address;
  std::size_t size = 0;
  switch (byte(bytes, 3)) {
    case ipv4:
      size = 4;
      break;
    case domain:
      size = byte(bytes, before_address);
      ++begin;
      break;
    case ipv6:
      size = 16;
      break;
    default:
      return std::optional(Parsed<SocksRequest>{
          refused(SocksReply::unknown_address, "a SOCKS request has an address of an unknown kind"), bytes.size()});
  }
  const std::size_t length = begin + size + 2;
  if (bytes.size() < length) return more;
  const auto done = [&](SocksRequest request) {
    return std::optional(Parsed<SocksRequest>{std::move(request), length});
  };
  if (byte(bytes, 1) != connect) {
    return done(refused(SocksReply::unknown_command, "of SOCKS only CONNECT is offered, not BIND or UDP"));
  }
  const auto host = host_of(static_cast<Form>(byte(bytes, 3)), bytes.substr(begin, size));
  if (!host) return done(refused(SocksReply::not_allowed, host.error().sentence));
  const auto port = static_cast<std::uint16_t>(number(bytes, begin + size, 2));
  if (port == 0) return done(refused(SocksReply::not_allowed, "a SOCKS request has no port"));
  return done({Endpoint{*host, port}, SocksReply::succeeded, {}});
}

std::string socks_reply(SocksReply reply) {
  // The address that we use outside is nobody's business.
  return {version, static_cast<char>(reply), 0, ipv4, 0, 0, 0, 0, 0, 0};
}

}  // namespace cordon::sandbox::network
