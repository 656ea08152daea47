// Scripts to disagree about: pieces of grammar put together and real commands spoiled, always the same for a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cordon::shell {

/// The commands of a corpus file (JSON lines with a "command").
std::vector<std::string> read_corpus(const std::string& path);

/// `count` scripts: half grown from a grammar, half mutated from the grown ones and `base`.
std::vector<std::string> make_scripts(const std::vector<std::string>& base, std::uint64_t seed, std::size_t count);

}  // namespace cordon::shell
