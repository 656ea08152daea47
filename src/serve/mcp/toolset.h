// What a conversation offers to be called. The protocol knows no tool, and this is all that it asks of whoever does.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "serve/tools/tool.h"

namespace cordon::serve::mcp {

/// What a client said about itself.
struct Peer {
  bool modern = false;
  std::string version;
  Json capabilities = Json::object();
};

/// Something that only the client can answer: by asking its person or its model, or by itself.
struct Question {
  std::string key;     // its answer comes back under it
  std::string method;  // "elicitation/create"
  Json params;
};

/// One round of a call: the first, or one after the client was asked something.
struct ToolCall {
  std::string name;
  Json arguments;
  Peer peer;
  Json state = {};                                // what the round before left; null: there was none
  Json replies = Json::object();                  // by key. In the first round nobody was asked, whatever stands here
  std::function<void(const Progress&)> progress;  // empty: nobody wants to know
  std::stop_token stop;
};

/// What came of it: a result, or questions to be answered first.
struct Round {
  Json result = {};  // as tools/call answers
  std::vector<Question> questions = {};
  Json state = Json::object();  // for the next round. The client may carry it, sealed
  Duration lasts{};             // then it is too late for answers
};

/// Called from many threads at once.
class Toolset {
 public:
  virtual ~Toolset() = default;
  /// As tools/list tells them, always in the same order.
  virtual Result<Json> list() = 0;
  /// Nothing: there is no such tool. The sentence of an error is for the model, which can then do better.
  virtual Result<std::optional<Round>> call(const ToolCall& call) = 0;
};

}  // namespace cordon::serve::mcp
