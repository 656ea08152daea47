#include "sandbox/network/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "sandbox/network/spawn.h"

namespace cordon::sandbox::network {

namespace {

constexpr int most_starts = 3;
constexpr std::size_t most_open = 100'000;
constexpr std::size_t most_contacts = 500;
constexpr int patience_at_end_ms = 2'000;

bool same(const Contact& a, const Contact& b) {
  return a.stage == b.stage && a.host == b.host && a.port == b.port && a.reason == b.reason && a.rule == b.rule &&
         a.transport == b.transport;
}

}  // namespace

Keeper::Keeper(KeeperOptions options, Io& io)
    : options_(std::move(options)), io_(io), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { keep(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Keeper::~Keeper() {
  if (thread_.joinable()) finish();
}

std::vector<Contact> Keeper::finish() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  return std::move(contacts_);
}

void Keeper::keep() {
  for (int starts = 0; starts < most_starts && wait_for_client(); ++starts) {
    auto child = start();
    if (!child) return tell({.reason = child.error().sentence});
    serve(*child);
    conclude(*child);
  }
}

/// False: it is over.
bool Keeper::wait_for_client() {
  std::array<pollfd, 2> wanted{pollfd{stop_.get(), POLLIN, 0}, pollfd{options_.listener.get(), POLLIN, 0}};
  while (::poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {
  }
  return wanted[0].revents == 0;
}

Result<Keeper::Child> Keeper::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Fault::unavailable, "socketpair: {}", std::strerror(errno));
  }
  sys::Fd ours(ends[0]);
  const sys::Fd theirs(ends[1]);
  Child child{TRY(spawn_program({"cordon-proxy"}, {theirs.get(), options_.listener.get()})), std::move(ours)};
  const std::string terms = encode(options_.terms);
  ::send(child.control.get(), terms.data(), terms.size(), MSG_NOSIGNAL);
  return child;
}

void Keeper::serve(const Child& child) {
  std::array<pollfd, 2> wanted{pollfd{stop_.get(), POLLIN, 0}, pollfd{child.control.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    if (wanted[0].revents != 0) return;
    if (wanted[1].revents != 0 && !take_packet(child)) return;
  }
}

/// Lets it say what became of the rest, and sees it go.
void Keeper::conclude(const Child& child) {
  ::shutdown(child.control.get(), SHUT_WR);
  pollfd wanted{child.control.get(), POLLIN, 0};
  while (::poll(&wanted, 1, patience_at_end_ms) > 0 && take_packet(child)) {
  }
  ::kill(child.pid, SIGKILL);
  while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  for (auto& [id, contact] : open_) {
    if (contact.stage == Contact::Stage::opened) tell(contact);
  }
  open_.clear();
}

bool Keeper::take_packet(const Child& child) {
  std::array<char, largest_message> packet{};
  const ssize_t got = ::recv(child.control.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const auto message = decode_from_proxy({packet.data(), static_cast<std::size_t>(got)});
  if (!message) {
    tell({.reason = message.error().sentence});
    return false;
  }
  if (const auto* question = std::get_if<Question>(&*message)) return take(*question, child);
  if (const auto* opened = std::get_if<Opened>(&*message)) take(*opened);
  if (const auto* refusal = std::get_if<Refusal>(&*message)) take(*refusal);
  if (const auto* closed = std::get_if<Closed>(&*message)) take(*closed);
  return true;
}

/// Asked for anew at every connection, so that a change counts at once. Rules that cannot be read open nothing.
const Rules& Keeper::current_rules() {
  auto texts = io_.network_rules().value_or(options_.rules);
  texts.insert(texts.end(), learned_.begin(), learned_.end());
  if (texts == known_texts_) return rules_;
  auto parsed = Rules::parse(texts);
  if (!parsed) tell({.reason = parsed.error().sentence});
  rules_ = parsed ? *std::move(parsed) : Rules();
  known_texts_ = std::move(texts);
  return rules_;
}

bool Keeper::take(const Question& question, const Child& child) {
  const Wish& wish = question.wish;
  Contact contact{.transport = name_of(wish.transport), .host = wish.endpoint.host.text(), .port = wish.endpoint.port};
  Decision decision = current_rules().decide(wish);
  contact.reason = decision.reason;
  contact.would_allow = decision.would_allow;
  if (!decision.allowed && io_.allow_contact(contact)) {
    learned_.push_back(decision.would_allow);
    decision = current_rules().decide(wish);
  }
  Answer answer{question.id, decision.allowed, decision.web_only, decision.reason, decision.would_allow, {}};
  if (decision.allowed) {
    answer.named = rules_.named_addresses(wish.endpoint.port);
    contact.rule = decision.rule;
    contact.reason.clear();
    contact.would_allow.clear();
    if (open_.size() >= most_open) open_.erase(open_.begin());
    open_[question.id] = std::move(contact);
  } else {
    tell(std::move(contact));
  }
  const std::string packet = encode(answer);
  return ::send(child.control.get(), packet.data(), packet.size(), MSG_NOSIGNAL) >= 0;
}

void Keeper::take(const Opened& opened) {
  const auto found = open_.find(opened.id);
  if (found == open_.end()) return;
  found->second.stage = Contact::Stage::opened;
  found->second.address = opened.address.text();
  io_.contact(found->second);
}

void Keeper::take(const Refusal& refusal) {
  Contact contact;
  if (const auto found = open_.find(refusal.id); found != open_.end()) {
    contact = found->second;
    contact.rule.clear();
  }
  contact.stage = refusal.refused ? Contact::Stage::refused : Contact::Stage::failed;
  contact.reason = visible(refusal.reason, Lines::escape);
  contact.would_allow = refusal.would_allow;
  tell(std::move(contact));
}

void Keeper::take(const Closed& closed) {
  const auto found = open_.find(closed.id);
  if (found == open_.end()) return;
  Contact contact = std::move(found->second);
  open_.erase(found);
  if (contact.stage != Contact::Stage::opened) return;
  contact.stage = Contact::Stage::closed;
  contact.sent = closed.sent;
  contact.received = closed.received;
  tell(std::move(contact));
}

void Keeper::tell(Contact contact) {
  const auto known = std::ranges::find_if(contacts_, [&](const Contact& other) { return same(other, contact); });
  if (known == contacts_.end()) {
    if (contacts_.size() < most_contacts) contacts_.push_back(contact);
  } else {
    ++known->count;
    known->sent += contact.sent;
    known->received += contact.received;
  }
  io_.contact(contact);
}

}  // namespace cordon::sandbox::network
