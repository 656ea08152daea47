// How the usual tools are told of the proxy.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cordon::sandbox::network {

/// On the sandbox's own loopback; HTTP and SOCKS5 on the same one.
constexpr std::uint16_t proxy_port = 3128;

void add_proxy_variables(std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace cordon::sandbox::network
