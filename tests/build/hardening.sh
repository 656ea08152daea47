#!/usr/bin/env bash
# The built program has the protections that cmake/Flags.cmake asks for.
#   hardening.sh PROGRAM
set -euo pipefail
program=${1:?usage: hardening.sh PROGRAM}
wrong=0
must() { # WHAT COMMAND…
  local what=$1
  shift
  if "$@" >/dev/null; then echo "yes  $what"; else echo "NO   $what"; wrong=1; fi
}
headers=$(readelf -hW "$program") segments=$(readelf -lW "$program") dynamic=$(readelf -dW "$program")
symbols=$(readelf --dyn-syms -W "$program")
has() { grep -Eq -- "$2" <<<"$1"; }
lacks() { ! has "$1" "$2"; }
fully_fortified() { # no call to a function for which a checked form exists and is used elsewhere in the program
  has "$symbols" '__(memcpy|memmove|memset|read|snprintf|vsnprintf|strncpy|fprintf|printf|getcwd|readlink|realpath|recv|poll)[a-z]*_chk'
}
must "position independent (PIE)" has "$headers" 'Type:.*DYN'
must "full RELRO: segment" has "$segments" 'GNU_RELRO'
must "full RELRO: bind now" has "$dynamic" 'BIND_NOW|FLAGS.*NOW'
must "stack is not executable" lacks "$segments" 'GNU_STACK.*RWE'
must "no segment is writable and executable" lacks "$segments" 'LOAD.*RWE'
must "no text relocations" lacks "$dynamic" 'TEXTREL'
must "no RPATH or RUNPATH" lacks "$dynamic" 'R(UN)?PATH'
must "stack protector" has "$symbols" '__stack_chk_fail'
must "FORTIFY_SOURCE" fully_fortified
case $(uname -m) in
  x86_64)
    # Distribution objects (crt1.o) of Debian 12 carry no IBT mark, so the linker drops it from the whole; the code itself must still have it.
    must "control-flow protection: endbr64 at main" bash -c "objdump -d --disassemble=main '$program' | grep -m1 -q endbr64" ;;
  aarch64) must "branch protection" bash -c "objdump -d '$program' | grep -m1 -qE 'paciasp|bti'" ;;
esac
exit "$wrong"
