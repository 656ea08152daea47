// The proxy's other half, in the process that runs the sandbox: answers its questions by the rules, and tells what
// became of every connection.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/outcome.h"
#include "sandbox/network/message.h"
#include "sandbox/network/rule.h"
#include "sandbox/sandbox.h"
#include "sys/fd.h"

namespace cordon::sandbox::network {

struct KeeperOptions {
  sys::Fd listener;
  std::vector<std::string> rules;
  Terms terms;
};

/// A thread of its own, because answers must not wait for whoever reads the program's output. The proxy is started when
/// the first connection waits: most commands never make one.
class Keeper {
 public:
  Keeper(KeeperOptions options, Io& io);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Ends the proxy, and says whom the program reached for.
  std::vector<Contact> finish();

 private:
  struct Child {
    int pid;
    sys::Fd control;
  };
  void keep();
  bool wait_for_client();
  Result<Child> start();
  void serve(const Child& child);
  void conclude(const Child& child);
  /// False: the proxy is gone, or says what no proxy of ours says.
  bool take_packet(const Child& child);
  bool take(const Question& question, const Child& child);
  void take(const Opened& opened);
  void take(const Refusal& refusal);
  void take(const Closed& closed);
  const Rules& current_rules();
  void tell(Contact contact);

  KeeperOptions options_;
  Io& io_;
  sys::Fd stop_;
  std::vector<std::string> known_texts_;
  Rules rules_;
  std::vector<std::string> learned_;
  std::map<std::uint64_t, Contact> open_;  // by question
  std::vector<Contact> contacts_;
  std::thread thread_;
};

}  // namespace cordon::sandbox::network
