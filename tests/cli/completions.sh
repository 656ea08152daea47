#!/usr/bin/env bash
# The completion scripts are valid and complete verbs, parts and options.
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

cordon completion bash >"$scratch/bash"
bash -n "$scratch/bash"
complete_bash() { # WORDS… → what would be offered for the last one
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cordon; printf "%s\n" "${COMPREPLY[@]}"' _ "$scratch/bash" "$@"
}
complete_bash cordon con | grep -qx config || fail "bash: 'con' is not completed to 'config'"
complete_bash cordon config sh | grep -qx show || fail "bash: 'config sh' is not completed"
complete_bash cordon config show --eff | grep -qx -- --effective || fail "bash: option of a part"
complete_bash cordon check --works | grep -qx -- --workspace || fail "bash: global option after a verb"
complete_bash sandbox-check --ba | grep -qx -- --batch || fail "bash: the other name"

cordon completion zsh >"$scratch/zsh"
grep -q '^#compdef cordon' "$scratch/zsh" || fail "zsh: no #compdef"
if command -v zsh >/dev/null; then zsh -n "$scratch/zsh" || fail "zsh: syntax"; fi
cordon completion fish >"$scratch/fish"
grep -q 'complete -c cordon' "$scratch/fish" || fail "fish: nothing is completed"
if command -v fish >/dev/null; then fish -n "$scratch/fish" || fail "fish: syntax"; fi
echo "completions: valid, and they complete"
