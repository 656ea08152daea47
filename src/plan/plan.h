// A request with every name in it frozen: which file is the program, which directory is the cwd, what the scripts that
// it runs contain, what the sandbox is given. A person votes on the digest; what runs must have the same one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/json.h"
#include "model/profile.h"
#include "model/request.h"
#include "model/verdict.h"

namespace cordon::plan {

struct FrozenFile {
  std::string path;  // on the host
  FileIdentity identity;
  Digest content;
};

struct Plan {
  Request request;
  Profile profile;
  std::optional<FrozenFile> executable;  // nothing: not found where the sandbox would look
  FileIdentity cwd;
  std::vector<FrozenFile> operands;   // files that the command names and reads or runs
  std::vector<std::string> unpinned;  // what will be read or run and could not be frozen, each with the reason
  std::vector<Need> grants;           // opened beyond the settings
  Where where = Where::sandbox;
  Digest policy;          // of the settings in force
  std::string not_twice;  // why this must not be approved for more than one run; empty: it may

  /// Over everything that decides what will happen. Times of files do not count, their contents do.
  Digest digest() const;
};

/// What a record keeps of it. Of the environment the names: values may be secrets, and the digest covers them.
Json describe_run(const Plan& plan);
/// What an approver sees, and what a later process needs to make the same plan again ("request").
Json to_json(const Plan& plan);
/// A request as it stands in such a description; a snippet is left out.
Json describe_request(const Request& request);
/// The request inside such a description. One for code has a snippet, which is empty.
Result<Request> request_of(const Json& description);

/// What differs between two descriptions, one sentence each: "deploy.sh has another content".
std::vector<std::string> differences(const Json& before, const Json& now);

}  // namespace cordon::plan
