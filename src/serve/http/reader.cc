#include "serve/http/reader.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/text.h"

namespace cordon::serve::http {

namespace beast = boost::beast;

struct RequestReader::Parser {
  beast::http::request_parser<beast::http::string_body> beast;
};

namespace {

Response bad(std::string_view message) {
  return error_response(400, "bad_request", message, "Send one well-formed HTTP/1.1 request after the other.");
}

Response refusal_for(const beast::error_code& error, const ReaderBounds& bounds) {
  namespace is = beast::http;
  if (error == is::error::header_limit) {
    return error_response(431, "head_too_large", fmt::format("the head is larger than {} bytes", bounds.head_bytes),
                          "Send fewer and shorter header fields.");
  }
  if (error == is::error::body_limit) {
    return error_response(413, "body_too_large", fmt::format("the body is larger than {} bytes", bounds.body_bytes),
                          "Send less, or have the server started with a larger --max-body.");
  }
  if (error == is::error::bad_version) {
    return error_response(505, "version_not_supported", "only HTTP/1.1 is spoken here", "Use HTTP/1.1.");
  }
  return bad("this is no well-formed HTTP request: " + error.message());
}

/// Empty: nothing is wrong. Both ways to say where a body ends, or one of them twice, is how requests are smuggled.
std::string wrong_framing(const Head& head) {
  const std::size_t lengths = head.count("content-length");
  const std::size_t encodings = head.count("transfer-encoding");
  if (lengths + encodings > 1) return "the length of the body is said twice";
  const std::string* encoding = head.field("transfer-encoding");
  if (encoding != nullptr && to_lower(*encoding) != "chunked") return "the only transfer encoding is chunked";
  const std::string* length = head.field("content-length");
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (length != nullptr && (length->empty() || !std::ranges::all_of(*length, digit)))
    return "Content-Length is no number";
  if (head.count("host") != 1) return "there must be exactly one Host";
  if (head.field("upgrade") != nullptr) return "there is nothing to upgrade to";
  return "";
}

}  // namespace

RequestReader::RequestReader(const ReaderBounds& bounds) : bounds_(bounds), parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(static_cast<std::uint32_t>(bounds.head_bytes + 1));
  parser_->beast.body_limit(bounds.body_bytes);
}

RequestReader::~RequestReader() = default;

RequestReader::Step RequestReader::refuse(Response response) {
  refusal_ = std::move(response);
  refusal_.close = true;
  return Step::broken;
}

RequestReader::Step RequestReader::check_head() {
  const auto& message = parser_->beast.get();
  if (message.version() != 11) return refuse(refusal_for(make_error_code(beast::http::error::bad_version), bounds_));
  Head& head = request_.head;
  head.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  if (!target.starts_with('/')) return refuse(bad("the target must be a path"));
  const std::size_t question = std::min(target.find('?'), target.size());
  head.path = target.substr(0, question);
  head.query = target.substr(std::min(target.size(), question + 1));
  for (const auto& field : message) {
    head.fields.emplace_back(to_lower({field.name_string().data(), field.name_string().size()}),
                             std::string(field.value()));
  }
  if (const std::string wrong = wrong_framing(head); !wrong.empty()) return refuse(bad(wrong));
  if (const std::string* expect = head.field("expect")) {
    if (to_lower(*expect) != "100-continue") {
      return refuse(error_response(417, "expectation_failed", "the only expectation is 100-continue", "Leave it out."));
    }
    wants_continue_ = true;
  }
  head_told_ = true;
  return Step::head;
}

RequestReader::Step RequestReader::step(std::string& bytes) {
  auto& parser = parser_->beast;
  while (!parser.is_done()) {
    if (parser.is_header_done() && !head_told_) return check_head();
    beast::error_code error;
    parser.eager(parser.is_header_done());
    const std::size_t used = bytes.empty() ? 0 : parser.put(boost::asio::buffer(bytes), error);
    bytes.erase(0, used);
    // Counted here: Beast counts what it is given at once.
    if (!head_told_) head_used_ += used;
    const std::size_t head_so_far = head_used_ + (parser.is_header_done() ? 0 : bytes.size());
    if (!head_told_ && head_so_far > bounds_.head_bytes) error = beast::http::error::header_limit;
    if (error == beast::http::error::need_more) error = {};
    if (error) return refuse(refusal_for(error, bounds_));
    if (parser.is_header_done() && !head_told_) continue;
    if (!parser.is_done() && (used == 0 || bytes.empty())) return Step::more;
  }
  if (!head_told_) return check_head();
  request_.body = std::move(parser.get().body());
  return Step::whole;
}

}  // namespace cordon::serve::http
