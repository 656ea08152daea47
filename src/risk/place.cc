#include "risk/place.h"

#include <algorithm>
#include <filesystem>

#include "risk/table.h"

namespace cordon::risk {

namespace {

bool within(std::string_view path, std::string_view directory) {
  if (directory.empty()) return false;
  if (directory == "/") return true;
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_glob(char c) { return c == '*' || c == '?' || c == '['; }

/// "~" and "~user" where the shell left them: in values, and in words of programs that expand them themselves.
std::string expand_home(std::string_view text, const RiskContext& context) {
  if (text.starts_with("$HOME") || text.starts_with("${HOME}")) {
    text.remove_prefix(text[1] == '{' ? 7 : 5);
    return context.home + std::string(text);
  }
  if (text.empty() || text[0] != '~') return std::string(text);
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view user = text.substr(1, slash - 1);
  std::string rest(text.substr(slash));
  if (user.empty()) return (context.home.empty() ? "/home/unknown" : context.home) + rest;
  if (user == "root") return "/root" + rest;
  return "/home/" + std::string(user) + rest;
}

bool is_home(std::string_view path, const RiskContext& context) {
  if (path == context.home || path == "/root") return true;
  for (std::string_view base : {"/home/", "/Users/"}) {
    if (path.starts_with(base) && path.find('/', base.size()) == std::string_view::npos) return true;
  }
  return false;
}

Area area_of(std::string_view path, const RiskContext& context) {
  if (listed("sink", path)) return Area::sink;
  if (within(path, "/dev")) return within(path, "/dev/shm") ? Area::temporary : Area::device;
  if (context.workspace != "/" && within(path, context.workspace)) return Area::workspace;
  if (within(path, "/tmp") || within(path, "/var/tmp") || within(path, "/private/tmp")) return Area::temporary;
  if (within(path, "/proc") || within(path, "/sys")) return Area::kernel;
  if (!context.home.empty() && context.home != "/" && within(path, context.home)) return Area::home;
  if (listed("system", path)) return Area::system;
  return Area::outside;
}

/// The path that is meant once symbolic links are followed. Also those that lead nowhere yet: writing makes what they
/// name. What is no link, or not there, stays as it is.
std::string resolved(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel's
  std::string done, rest = path;
  int links = 0;
  std::size_t at = 0;
  while (at < rest.size()) {
    const std::size_t end = std::min(rest.find('/', at), rest.size());
    const std::string part = rest.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done.resize(std::min(done.rfind('/'), done.size()));
      continue;
    }
    std::string here = done + '/' + part;
    std::error_code none;
    const std::string target = std::filesystem::read_symlink(here, none).string();
    if (none || target.empty()) {
      done = std::move(here);
      continue;
    }
    if (++links > most_links) return path;
    rest = target + '/' + (at < rest.size() ? rest.substr(at) : std::string());
    at = 0;
    if (target.starts_with('/')) done.clear();
  }
  return done.empty() ? "/" : done;
}

void name_kind(Place& place, std::string_view path, const RiskContext& context) {
  const bool harmless = listed("harmless", path);
  place.credential |= !harmless && listed("credential", path);
  place.suspect |= !harmless && listed("suspect", path);
  place.persistent |= listed("persistent", path);
  place.hook |= listed("hook", path);
  place.guarded |= listed("guarded", path);
  for (const std::string& own : context.guarded) place.guarded |= within(path, own);
}

/// A link inside the workspace that leads out of it would make every judgement by name worthless. Of a pattern only the
/// directories before it can be followed.
void follow_links(Place& place, const RiskContext& context) {
  if (place.area == Area::system || place.area == Area::device || place.area == Area::kernel ||
      place.area == Area::sink)
    return;
  const auto glob = std::find_if(place.path.begin(), place.path.end(), is_glob);
  const std::size_t fixed = glob == place.path.end()
                                ? place.path.size()
                                : place.path.rfind('/', static_cast<std::size_t>(glob - place.path.begin()));
  if (fixed == 0) return;
  const std::string before = place.path.substr(0, fixed);
  std::string real = resolved(before);
  if (real == before) return;
  real += place.path.substr(fixed);
  name_kind(place, real, context);
  if (within(real, resolved(context.workspace))) return;
  const Area led = area_of(real, context);
  if (led == place.area) return;
  place.area = led;
  place.path = std::move(real);
}

/// What is meant by a path that ends in a pattern is everything in the directory before it.
std::string_view covered(std::string_view path) {
  const std::size_t glob = static_cast<std::size_t>(std::find_if(path.begin(), path.end(), is_glob) - path.begin());
  if (glob == path.size()) return path;
  const std::size_t slash = path.rfind('/', glob);
  const std::string_view pattern = path.substr(slash + 1);
  if (pattern != "*" && pattern != ".*" && pattern != "*/" && pattern != ".[!.]*" && pattern != "?*") return path;
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

}  // namespace

std::string absolute(std::string_view path, std::string_view directory) {
  std::string joined;
  if (!path.starts_with('/')) {
    joined = directory;
    joined += '/';
  }
  joined += path;
  std::string clean;
  clean.reserve(joined.size() + 1);
  std::size_t at = 0;
  while (at < joined.size()) {
    std::size_t end = std::min(joined.find('/', at), joined.size());
    std::string_view part(joined.data() + at, end - at);
    if (part == "..") {
      const std::size_t slash = clean.rfind('/');
      clean.resize(slash == std::string::npos ? 0 : slash);
    } else if (!part.empty() && part != ".") {
      clean += '/';
      clean += part;
    }
    at = end + 1;
  }
  if (clean.empty()) clean = "/";
  return clean;
}

Place locate(std::string_view text, const std::optional<std::string>& directory, const RiskContext& context) {
  Place place;
  place.wildcard = std::any_of(text.begin(), text.end(), is_glob);
  std::string expanded = expand_home(text, context);
  const bool relative = !expanded.starts_with('/');
  const bool unknowable = expanded.starts_with('$') || expanded.starts_with('`') || (relative && !directory);
  if (unknowable) {
    place.path = expanded;
    name_kind(place, "/" + expanded, context);
    return place;
  }
  place.path = absolute(expanded, directory ? std::string_view(*directory) : std::string_view("/"));
  place.area = area_of(place.path, context);
  name_kind(place, place.path, context);
  if (context.look_at_files) follow_links(place, context);
  std::string_view whole = covered(place.path);
  place.vital = whole == "/" || is_home(whole, context) || listed("vital", whole);
  place.holds_secrets =
      whole == "/" || whole == "/home" || whole == "/etc" || is_home(whole, context) || listed("secret_tree", whole);
  place.workspace_root = whole == context.workspace || (whole.size() > 1 && within(context.workspace, whole));
  return place;
}

namespace {

/// One component of a path against a shell pattern; a leading dot must be written.
bool component_fits(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::string loose;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '[') {
      loose += pattern[i];
      continue;
    }
    const std::size_t close = pattern.find(']', i + 1);
    if (close == std::string_view::npos) return false;
    loose += '?';
    i = close;
  }
  return matches(loose, name);
}

}  // namespace

bool could_be_credential(std::string_view pattern, const RiskContext& context) {
  for (std::string_view known : {"~/.ssh/id_rsa", "~/.ssh/id_ed25519", "~/.aws/credentials", "~/.netrc", "~/.npmrc",
                                 "~/.pypirc", "~/.git-credentials", "~/.kube/config", "~/.docker/config.json",
                                 "~/.pgpass", "~/.gnupg/secring.gpg", "/etc/shadow", ".env", ".env.production"}) {
    std::string path = known.starts_with("~")   ? context.home + std::string(known.substr(1))
                       : known.starts_with('/') ? std::string(known)
                                                : context.workspace + "/" + std::string(known);
    std::string_view left = pattern, right = path;
    bool fits = std::count(left.begin(), left.end(), '/') == std::count(right.begin(), right.end(), '/');
    while (fits && !right.empty()) {
      left.remove_prefix(std::min<std::size_t>(1, left.size()));
      right.remove_prefix(1);
      const std::string_view a = left.substr(0, left.find('/')), b = right.substr(0, right.find('/'));
      fits = component_fits(a, b);
      left.remove_prefix(a.size());
      right.remove_prefix(b.size());
    }
    if (fits) return true;
  }
  return false;
}

std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#$`"));
  const std::size_t user = url.rfind('@');
  if (user != std::string_view::npos) url.remove_prefix(user + 1);
  if (url.starts_with('[')) return url.substr(1, url.find(']') - 1);
  const std::size_t colon = url.find(':');
  if (colon != std::string_view::npos && url.find(':', colon + 1) == std::string_view::npos) url = url.substr(0, colon);
  return url;
}

bool is_local_host(std::string_view host) {
  // 127.evil.example is a name like any other.
  const bool loopback = host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || host == "0.0.0.0" || host == "0" || loopback ||
         host.ends_with(".localhost") || host == "host.docker.internal";
}

bool is_metadata_host(std::string_view host) { return listed("metadata", host); }

}  // namespace cordon::risk
