// The functions behind the tools, by what they are about.
#pragma once

#include "serve/tools/tool.h"

namespace cordon::serve {

// commands.cc
Result<Json> check_command(const Premises& premises, const Call& call);
Result<Json> execute_command(const Premises& premises, const Call& call);
Result<Json> run_snippet(const Premises& premises, const Call& call);
Result<Json> explain_settings(const Premises& premises, const Call& call);

// answers.cc
Result<Json> list_queue(const Premises& premises, const Call& call);
Result<Json> approve_entry(const Premises& premises, const Call& call);
Result<Json> reject_entry(const Premises& premises, const Call& call);

// previews.cc
Result<Json> list_previews(const Premises& premises, const Call& call);
Result<Json> show_preview(const Premises& premises, const Call& call);
Result<Json> commit_preview(const Premises& premises, const Call& call);
Result<Json> discard_preview(const Premises& premises, const Call& call);

// books.cc
Result<Json> read_log(const Premises& premises, const Call& call);
Result<Json> read_stats(const Premises& premises, const Call& call);
Result<Json> add_to_allowlist(const Premises& premises, const Call& call);
Result<Json> remove_from_allowlist(const Premises& premises, const Call& call);
Result<Json> test_allowlist(const Premises& premises, const Call& call);

}  // namespace cordon::serve
