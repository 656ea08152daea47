// Cordon's own tools in a conversation: their answers as a model reads them, and a person asked where one must be.
#pragma once

#include "serve/mcp/toolset.h"
#include "serve/premises.h"

namespace cordon::serve::mcp {

class OwnTools : public Toolset {
 public:
  /// `premises` must outlive it.
  OwnTools(const Premises& premises, Caller caller) : premises_(premises), caller_(std::move(caller)) {}

  Result<Json> list() override;
  Result<std::optional<Round>> call(const ToolCall& call) override;

 private:
  Result<Round> begin(const ToolCall& call, const Tool& tool, const Settings& settings);
  /// What a waiting answer becomes where a person can be asked from here.
  Round ask(const ToolCall& call, const Settings& settings, Json answer) const;
  /// The second round of a call.
  Result<Round> go_on(const ToolCall& call, const Tool& tool, const Settings& settings);
  Result<Json> call_once(const ToolCall& call, const Tool& tool, const Json& arguments, std::optional<Duration> wait);

  const Premises& premises_;
  Caller caller_;
};

}  // namespace cordon::serve::mcp
