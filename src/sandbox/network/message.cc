#include "sandbox/network/message.h"

#include <charconv>

namespace cordon::sandbox::network {

namespace {

/// Texts with a NUL after each; a NUL inside a text would start another.
class Writer {
 public:
  explicit Writer(std::string_view kind) { text(kind); }
  Writer& text(std::string_view value) {
    constexpr std::size_t longest = 2048;
    bytes_.append(value.substr(0, std::min(longest, value.find('\0'))));
    bytes_.push_back('\0');
    return *this;
  }
  Writer& number(std::uint64_t value) { return text(std::to_string(value)); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

tl::unexpected<Error> malformed() { return fail(Fault::corrupt, "a message of the network proxy is malformed"); }

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  Result<std::string> text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return malformed();
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }
  Result<std::uint64_t> number() {
    const std::string digits = TRY(text());
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return malformed();
    return value;
  }
  Result<bool> flag() { return TRY(number()) == 1; }
  Result<Address> address() {
    const auto value = Address::parse(TRY(text()));
    if (!value) return malformed();
    return *value;
  }

 private:
  std::string_view rest_;
};

template <class T>
Result<T> whole(const Reader& reader, T value) {
  if (!reader.empty()) return malformed();
  return value;
}

Result<Question> read_question(Reader& reader) {
  Question question;
  question.id = TRY(reader.number());
  const auto transport = transport_named(TRY(reader.text()));
  const std::string endpoint = TRY(reader.text());
  const auto parsed = parse_endpoint(endpoint, std::nullopt);
  // Only the canonical spelling: judging another one would be judging another name.
  if (!transport || !parsed || parsed->text() != endpoint) return malformed();
  question.wish = {*transport, *parsed, TRY(reader.text())};
  return whole(reader, std::move(question));
}

struct Encoder {
  std::string operator()(const Question& question) const {
    const Wish& wish = question.wish;
    return Writer("question")
        .number(question.id)
        .text(name_of(wish.transport))
        .text(wish.endpoint.text())
        .text(wish.method)
        .take();
  }
  std::string operator()(const Opened& opened) const {
    return Writer("opened").number(opened.id).text(opened.address.text()).take();
  }
  std::string operator()(const Refusal& refusal) const {
    return Writer("refusal")
        .number(refusal.id)
        .text(refusal.reason)
        .text(refusal.would_allow)
        .number(refusal.refused)
        .take();
  }
  std::string operator()(const Closed& closed) const {
    return Writer("closed").number(closed.id).number(closed.sent).number(closed.received).take();
  }
};

}  // namespace

std::string encode(const FromProxy& message) { return std::visit(Encoder{}, message); }

std::string encode(const Terms& terms) {
  return Writer("terms").number(terms.connections).number(terms.bytes).number(terms.milliseconds).take();
}

std::string encode(const Answer& answer) {
  Writer writer("answer");
  writer.number(answer.id).number(answer.allowed).number(answer.web_only).text(answer.reason).text(answer.would_allow);
  for (const Address& address : answer.named) writer.text(address.text());
  return writer.take();
}

Result<FromProxy> decode_from_proxy(std::string_view packet) {
  Reader reader(packet);
  const std::string kind = TRY(reader.text());
  if (kind == "question") return FromProxy(TRY(read_question(reader)));
  if (kind == "opened") {
    Opened opened;
    opened.id = TRY(reader.number());
    opened.address = TRY(reader.address());
    return FromProxy(TRY(whole(reader, opened)));
  }
  if (kind == "refusal") {
    Refusal refusal;
    refusal.id = TRY(reader.number());
    refusal.reason = TRY(reader.text());
    refusal.would_allow = TRY(reader.text());
    refusal.refused = TRY(reader.flag());
    return FromProxy(TRY(whole(reader, std::move(refusal))));
  }
  if (kind == "closed") {
    Closed closed;
    closed.id = TRY(reader.number());
    closed.sent = TRY(reader.number());
    closed.received = TRY(reader.number());
    return FromProxy(TRY(whole(reader, closed)));
  }
  return malformed();
}

Result<Terms> decode_terms(std::string_view packet) {
  Reader reader(packet);
  if (TRY(reader.text()) != "terms") return malformed();
  Terms terms;
  terms.connections = TRY(reader.number());
  terms.bytes = TRY(reader.number());
  terms.milliseconds = TRY(reader.number());
  return whole(reader, terms);
}

Result<Answer> decode_answer(std::string_view packet) {
  Reader reader(packet);
  if (TRY(reader.text()) != "answer") return malformed();
  Answer answer;
  answer.id = TRY(reader.number());
  answer.allowed = TRY(reader.flag());
  answer.web_only = TRY(reader.flag());
  answer.reason = TRY(reader.text());
  answer.would_allow = TRY(reader.text());
  while (!reader.empty()) answer.named.push_back(TRY(reader.address()));
  return answer;
}

}  // namespace cordon::sandbox::network
