#include "sandbox/network/tools.h"

#include <fmt/format.h>

namespace cordon::sandbox::network {

namespace {

/// ssh has no proxy of its own. bash can be one: it asks for a tunnel, says what the proxy says if that is no, and then
/// copies both ways.
constexpr const char* ssh_command =
    "ssh -o ProxyCommand='/bin/bash --norc --noprofile -c '\\''"
    "exec 3<>/dev/tcp/127.0.0.1/{0} && "
    "printf \"CONNECT %%s:%%s HTTP/1.1\\r\\nHost: %%s:%%s\\r\\n\\r\\n\" \"$0\" \"$1\" \"$0\" \"$1\" >&3 && "
    "IFS= read -r s <&3 && while IFS= read -r l <&3; do case $l in ?) break;; esac; done; "
    "case $s in *\" 200 \"*) ;; *) cat <&3 >&2; exit 1;; esac; "
    "cat <&3 & exec cat >&3'\\'' %h %p'";

}  // namespace

void add_proxy_variables(std::vector<std::pair<std::string, std::string>>& variables) {
  const std::string http = fmt::format("http://127.0.0.1:{}", proxy_port);
  const std::string socks = fmt::format("socks5h://127.0.0.1:{}", proxy_port);
  // curl, git over https, pip, go, apt, ruby and most others read these; some only the lower-case ones.
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"})
    variables.emplace_back(name, http);
  for (const char* name : {"ALL_PROXY", "all_proxy"}) variables.emplace_back(name, socks);
  for (const char* name : {"NO_PROXY", "no_proxy"}) variables.emplace_back(name, "");
  variables.emplace_back("npm_config_proxy", http);
  variables.emplace_back("npm_config_https_proxy", http);
  variables.emplace_back("npm_config_noproxy", "");
  variables.emplace_back("CARGO_HTTP_PROXY", http);
  variables.emplace_back("NODE_USE_ENV_PROXY", "1");
  variables.emplace_back("JAVA_TOOL_OPTIONS",
                         fmt::format("-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={0} -Dhttps.proxyHost=127.0.0.1 "
                                     "-Dhttps.proxyPort={0} -Dhttp.nonProxyHosts=",
                                     proxy_port));
  variables.emplace_back("GIT_SSH_COMMAND", fmt::format(fmt::runtime(ssh_command), proxy_port));
}

}  // namespace cordon::sandbox::network
