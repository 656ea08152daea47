#include "sandbox/network/resolver.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/text.h"
#include "sandbox/network/name.h"
#include "sandbox/network/socket.h"

namespace cordon::sandbox::network {

namespace {

constexpr std::uint16_t dns_port = 53;
constexpr auto patience = std::chrono::seconds(3);
constexpr int most_attempts = 4;
constexpr std::uint32_t longest_cached_s = 60;
constexpr std::size_t most_cached = 1024;
constexpr std::size_t most_lookups = 256;
constexpr std::size_t most_servers = 3;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find_first_of("#;"));
  while (!(line = trim(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    words.push_back(word);
  }
  return words;
}

template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    take(words_of(line));
  }
}

std::uint16_t random_id() {
  std::uint16_t id = 0;
  // Fails only where the kernel is not up yet.
  [[maybe_unused]] const ssize_t got = ::getrandom(&id, sizeof id, 0);
  return id;
}

}  // namespace

ResolverSettings ResolverSettings::parse(std::string_view hosts, std::string_view resolv_conf) {
  ResolverSettings settings;
  each_line(hosts, [&](const std::vector<std::string_view>& words) {
    const auto address = words.empty() ? std::nullopt : Address::parse(words[0]);
    if (!address) return;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto host = parse_host(words[i]);
      if (host && !host->address) settings.hosts[host->name].push_back(*address);
    }
  });
  each_line(resolv_conf, [&](const std::vector<std::string_view>& words) {
    if (words.size() < 2 || words[0] != "nameserver" || settings.servers.size() == most_servers) return;
    if (const auto address = Address::parse(words[1])) settings.servers.push_back(*address);
  });
  if (settings.servers.empty()) settings.servers.push_back(Address::v4(INADDR_LOOPBACK));
  return settings;
}

/// One name being looked up: both kinds of address at once, over UDP, and over TCP what does not fit.
class Lookup {
 public:
  Lookup(Resolver& resolver, std::uint64_t id, std::string name)
      : resolver_(resolver), id_(id), name_(std::move(name)) {}

  std::vector<std::uint64_t> askers;
  const std::string& name() const { return name_; }

  /// Asks the next server; false: none is left.
  bool attempt(Resolver::Clock::time_point now) {
    if (attempts_ == most_attempts) return false;
    const auto& servers = resolver_.settings_.servers;
    server_ = servers[static_cast<std::size_t>(attempts_) % servers.size()];
    ++attempts_;
    deadline_ = now + patience;
    tcp_.reset();
    udp_ = open_socket(*server_, SOCK_DGRAM);
    if (!udp_ || !connect_socket(*udp_, *server_, dns_port)) return attempt(now);
    for (Query& query : queries_) {
      if (query.answered) continue;
      query.id = random_id();
      const std::string packet = dns_query(query.id, name_, query.type);
      [[maybe_unused]] const ssize_t sent = ::send(udp_->get(), packet.data(), packet.size(), MSG_NOSIGNAL);
    }
    resolver_.watch_(udp_->get(), id_, false);
    return true;
  }

  /// True when everything is known.
  bool ready(Resolver::Clock::time_point now) {
    if (tcp_) {
      const Progress progress = exchange_over_tcp();
      if (progress == Progress::waiting) return false;
      if (all_answered()) return true;
      return (progress == Progress::failed || !ask_over_tcp()) && !attempt(now);
    }
    std::array<char, 4096> packet{};
    for (;;) {
      const ssize_t got = ::recv(udp_->get(), packet.data(), packet.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      // Refused: that server is not there, the next one may be.
      if (got < 0 && errno != EAGAIN) return !attempt(now);
      if (got < 0) return false;
      take_reply({packet.data(), static_cast<std::size_t>(got)});
      if (all_answered()) return true;
      if (truncated_) return !ask_over_tcp() && !attempt(now);
    }
  }
  bool late(Resolver::Clock::time_point now) const { return now >= deadline_; }

  Resolution result() const {
    Resolution resolution;
    for (const Query& query : queries_) {
      resolution.addresses.insert(resolution.addresses.end(), query.reply.addresses.begin(),
                                  query.reply.addresses.end());
    }
    if (!resolution.addresses.empty()) return resolution;
    const bool unknown = std::ranges::any_of(queries_, [](const Query& query) { return query.reply.code == 3; });
    resolution.trouble = unknown          ? "there is no such name"
                         : all_answered() ? "it has no address"
                                          : "no name server answers";
    return resolution;
  }
  std::uint32_t ttl() const {
    std::uint32_t shortest = longest_cached_s;
    for (const Query& query : queries_) {
      if (!query.reply.addresses.empty()) shortest = std::min(shortest, query.reply.ttl);
    }
    return shortest;
  }

 private:
  struct Query {
    RecordType type;
    std::uint16_t id = 0;
    bool answered = false;
    DnsReply reply{};
  };

  bool all_answered() const {
    return std::ranges::all_of(queries_, [](const Query& query) { return query.answered; });
  }

  /// What is no answer to one of our questions is not from the server that we asked.
  void take_reply(std::string_view packet) {
    for (Query& query : queries_) {
      if (query.answered) continue;
      auto reply = parse_dns_reply(packet, query.id, name_, query.type);
      if (!reply) continue;
      truncated_ = truncated_ || reply->truncated;
      if (reply->truncated) continue;
      query.reply = *std::move(reply);
      query.answered = true;
    }
  }

  bool ask_over_tcp() {
    truncated_ = false;
    const auto open = std::ranges::find_if(queries_, [](const Query& query) { return !query.answered; });
    tcp_ = open_socket(*server_, SOCK_STREAM);
    if (!tcp_ || !connect_socket(*tcp_, *server_, dns_port)) return false;
    const std::string packet = dns_query(open->id, name_, open->type);
    outgoing_ = {static_cast<char>(packet.size() >> 8), static_cast<char>(packet.size())};
    outgoing_ += packet;
    incoming_.clear();
    resolver_.watch_(tcp_->get(), id_, true);
    return true;
  }

  enum class Progress { waiting, answered, failed };
  Progress exchange_over_tcp() {
    const auto later = [] { return errno == EAGAIN || errno == EINTR ? Progress::waiting : Progress::failed; };
    if (!outgoing_.empty()) {
      const ssize_t sent = ::send(tcp_->get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return later();
      outgoing_.erase(0, static_cast<std::size_t>(sent));
      if (outgoing_.empty()) resolver_.watch_(tcp_->get(), id_, false);
      return Progress::waiting;
    }
    std::array<char, 4096> part{};
    const ssize_t got = ::recv(tcp_->get(), part.data(), part.size(), MSG_DONTWAIT);
    if (got < 0) return later();
    if (got == 0) return Progress::failed;
    incoming_.append(part.data(), static_cast<std::size_t>(got));
    if (incoming_.size() < 2) return Progress::waiting;
    const std::size_t length =
        std::size_t{static_cast<std::uint8_t>(incoming_[0])} << 8 | static_cast<std::uint8_t>(incoming_[1]);
    if (incoming_.size() < 2 + length) return Progress::waiting;
    const auto answered = [&] { return std::ranges::count_if(queries_, [](const Query& q) { return q.answered; }); };
    const auto before = answered();
    take_reply(std::string_view(incoming_).substr(2, length));
    return answered() > before ? Progress::answered : Progress::failed;
  }

  Resolver& resolver_;
  std::uint64_t id_;
  std::string name_;
  std::array<Query, 2> queries_{Query{RecordType::a}, Query{RecordType::aaaa}};
  std::optional<Address> server_;
  std::optional<sys::Fd> udp_;
  std::optional<sys::Fd> tcp_;
  std::string outgoing_;
  std::string incoming_;
  bool truncated_ = false;
  int attempts_ = 0;
  Resolver::Clock::time_point deadline_{};
};

Resolver::Resolver(ResolverSettings settings, Watch watch, Done done)
    : settings_(std::move(settings)), watch_(std::move(watch)), done_(std::move(done)) {}
Resolver::~Resolver() = default;

void Resolver::resolve(std::uint64_t asker, const std::string& name) {
  if (const auto known = settings_.hosts.find(name); known != settings_.hosts.end()) {
    return done_(asker, {known->second, {}});
  }
  const auto now = Clock::now();
  if (const auto cached = cache_.find(name); cached != cache_.end()) {
    if (now < cached->second.until) return done_(asker, {cached->second.addresses, {}});
    cache_.erase(cached);
  }
  for (auto& [id, lookup] : lookups_) {
    if (lookup->name() == name) return lookup->askers.push_back(asker);
  }
  if (lookups_.size() >= most_lookups) return done_(asker, {{}, "too many names are being looked up"});
  const std::uint64_t id = next_++;
  auto& lookup = *lookups_.emplace(id, std::make_unique<Lookup>(*this, id, name)).first->second;
  lookup.askers.push_back(asker);
  if (!lookup.attempt(now)) finish(id, lookup.result(), 0);
}

void Resolver::ready(std::uint64_t id) {
  const auto found = lookups_.find(id);
  if (found == lookups_.end()) return;
  if (found->second->ready(Clock::now())) finish(id, found->second->result(), found->second->ttl());
}

void Resolver::tick(Clock::time_point now) {
  std::vector<std::uint64_t> over;
  for (auto& [id, lookup] : lookups_) {
    if (lookup->late(now) && !lookup->attempt(now)) over.push_back(id);
  }
  for (const std::uint64_t id : over) finish(id, lookups_.at(id)->result(), 0);
}

void Resolver::finish(std::uint64_t id, const Resolution& resolution, std::uint32_t ttl) {
  const std::unique_ptr<Lookup> lookup = std::move(lookups_.at(id));
  lookups_.erase(id);
  if (!resolution.addresses.empty() && ttl > 0) {
    if (cache_.size() >= most_cached) cache_.clear();
    cache_[lookup->name()] = {resolution.addresses, Clock::now() + std::chrono::seconds(ttl)};
  }
  for (const std::uint64_t asker : lookup->askers) done_(asker, resolution);
}

}  // namespace cordon::sandbox::network
