// cordon-verify: checks an audit log, or a proof from one, with nothing but the files and a public key. It shares no
// code with what writes the log; docs/audit-format.md is what both follow.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "audit/verify/verifier.h"

namespace {

using cordon::audit::Soundness;

constexpr std::string_view usage =
    "usage: cordon-verify log DIRECTORY… [--key KEY] [--against CHECKPOINT]… [--from DAY] [--to DAY] [--quiet]\n"
    "       cordon-verify proof FILE --key KEY\n"
    "KEY is a verifier key (name+id+base64) or a file that holds one; without it the log's own key.pub is believed.\n"
    "CHECKPOINT is a file with a checkpoint that was kept elsewhere.\n"
    "exit: 0 good, 2 damaged, 3 good but with an unsigned tail, 1 wrong usage\n";

struct Arguments {
  std::string verb;
  std::vector<std::string> names;
  cordon::audit::VerifyRequest request;
  bool quiet = false;
};

std::optional<std::string> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

bool take_option(Arguments& arguments, const std::string& option, const std::string& value) {
  if (option == "--key") {
    arguments.request.key = value.find('+') != std::string::npos && !read_whole(value) ? value : read_whole(value);
    return arguments.request.key.has_value();
  }
  if (option == "--against") {
    const auto text = read_whole(value);
    if (text) arguments.request.against.push_back(*text);
    return text.has_value();
  }
  if (option != "--from" && option != "--to") return false;
  (option == "--from" ? arguments.request.from : arguments.request.to) = value;
  return true;
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--quiet") {
      arguments.quiet = true;
    } else if (words[i].starts_with("--")) {
      if (i + 1 == words.size() || !take_option(arguments, words[i], words[i + 1])) return std::nullopt;
      ++i;
    } else if (arguments.verb.empty()) {
      arguments.verb = words[i];
    } else {
      arguments.names.push_back(words[i]);
    }
  }
  const bool known = arguments.verb == "log" || (arguments.verb == "proof" && arguments.request.key);
  if (!known || arguments.names.empty()) return std::nullopt;
  return arguments;
}

int verify_one(const Arguments& arguments, const std::string& directory) {
  cordon::audit::VerifyRequest request = arguments.request;
  request.directory = directory;
  const auto report = cordon::audit::verify_log(request);
  const int code = static_cast<int>(report.soundness());
  if (arguments.names.size() > 1) std::cout << code << ' ' << directory << '\n';
  if (arguments.quiet) return code;
  std::cout << report.summary() << '\n';
  for (const auto& remark : report.remarks) std::cout << "note: " << remark << '\n';
  for (const auto& damage : report.damage) std::cout << "DAMAGED: " << damage.text() << '\n';
  return code;
}

// Damage is worse than an open end, and that worse than nothing.
int worse(int one, int other) {
  if (one == 2 || other == 2) return 2;
  return one == 0 ? other : one;
}

int verify_proof(const Arguments& arguments) {
  const auto text = read_whole(arguments.names.front());
  if (!text) {
    std::cerr << "cordon-verify: cannot read " << arguments.names.front() << '\n';
    return 1;
  }
  const auto shown = cordon::audit::check_proof(*text, *arguments.request.key);
  if (!shown) {
    std::cerr << "cordon-verify: " << shown.error().sentence << '\n';
    return 2;
  }
  if (!arguments.quiet) {
    std::cerr << fmt::format("record {} of a log of {}, as signed:\n", shown->index, shown->size);
    std::cout << shown->line << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse({argv + 1, argv + argc});
  if (!arguments) {
    std::cerr << usage;
    return 1;
  }
  if (arguments->verb == "proof") return verify_proof(*arguments);
  int code = static_cast<int>(Soundness::good);
  for (const std::string& directory : arguments->names) code = worse(code, verify_one(*arguments, directory));
  return code;
}
