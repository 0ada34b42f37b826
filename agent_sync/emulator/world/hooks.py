r"""The hook with which a bare repository refuses single refs of a push.

Receive-pack asks it once per ref, so that one refused ref leaves the others alone. What it notes down as a reason
takes the place of git's own words in the report of the push. The environment says who pushes:

EMULATOR_REASONS       the file for reasons, one `ref<TAB>reason` a line
EMULATOR_RULES         the address of the page with the repository's rules
EMULATOR_NO_WORKFLOWS  the sentence, with %s for the path, that refuses workflow files the default branch has not
"""

UPDATE_HOOK = r"""#!/bin/sh
refuse() { printf '%s\t%s\n' "$1" "$2" >>"${EMULATOR_REASONS:-/dev/null}"; exit 1; }

new_workflow() {
  known=$(git ls-tree -r HEAD -- .github/workflows/ 2>/dev/null)
  git ls-tree -r "$1" -- .github/workflows/ 2>/dev/null | while IFS= read -r line; do
    printf '%s\n' "$known" | grep -qxF -e "$line" || { printf '%s' "$line" | cut -f 2; break; }
  done
}

while IFS= read -r pattern; do
  case "$1" in
    $pattern)
      echo "error: GH013: Repository rule violations found for $1." >&2
      echo "Review all repository rules at $EMULATOR_RULES?ref=$(printf %s "$1" | sed 's,/,%2F,g')" >&2
      echo >&2
      echo "- Cannot update this protected ref." >&2
      echo >&2
      refuse "$1" "push declined due to repository rule violations" ;;
  esac
done <"$GIT_DIR/refused-refs"

case "$3" in *[!0]*) ;; *) exit 0 ;; esac
[ -n "$EMULATOR_NO_WORKFLOWS" ] || exit 0
path=$(new_workflow "$3")
[ -z "$path" ] || refuse "$1" "$(printf "$EMULATOR_NO_WORKFLOWS" "$path")"
exit 0
"""
