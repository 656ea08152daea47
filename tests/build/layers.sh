#!/usr/bin/env bash
# Dependencies go down only. Fails on an #include that its folder's CMakeLists.txt does not allow, and on a DEPENDS that
# points up or sideways.
#   layers.sh SRC
set -euo pipefail
src=${1:?usage: layers.sh SRC}

# The arrow: a folder may use folders of a smaller number. Those of number 4 do not know each other.
declare -A height=(
  [base]=1 [sys]=2 [model]=3
  [shell]=4 [risk]=4 [policy]=4 [plan]=4 [approve]=4 [audit]=4 [sandbox]=4 [config]=4 [notify]=4
  [code]=5 # a language runs in a sandbox, so code may use sandbox's interface
  [guard]=6 [serve]=7 [app]=8
)
wrong=0
complain() {
  echo "layers: $1" >&2
  wrong=1
}

may_use() { # FOLDER OTHER
  [[ $1 == "$2" ]] && return 0
  [[ $1 == code ]] && { [[ $2 == sandbox ]] || ((${height[$2]} < 4)); return; }
  ((${height[$2]} < ${height[$1]}))
}

for path in "$src"/*/; do
  folder=$(basename "$path")
  if [[ -z ${height[$folder]:-} ]]; then
    complain "src/$folder has no place in the arrow (add it to tests/build/layers.sh)"
    continue
  fi
  while IFS=: read -r file line include; do
    other=$(sed -E 's/.*"([^/"]+)\/.*/\1/' <<<"$include")
    [[ -n ${height[$other]:-} ]] || continue
    may_use "$folder" "$other" || complain "$file:$line: $folder may not include $other"
  done < <(grep -rnE '^\s*#\s*include\s+"[a-z_]+/' --include='*.h' --include='*.cc' --include='*.c' "$path" || true)
  [[ $folder == app || ! -f $path/CMakeLists.txt ]] && continue
  depends=$(tr '\n' ' ' <"$path/CMakeLists.txt" | sed -nE 's/.*cordon_layer\([^)]*DEPENDS ([a-z_ ]+).*/\1/p')
  for other in $depends; do
    [[ -n ${height[$other]:-} ]] || continue
    may_use "$folder" "$other" || complain "src/$folder/CMakeLists.txt: $folder may not depend on $other"
  done
done
((wrong == 0)) && echo "layers: every include goes down"
exit "$wrong"
