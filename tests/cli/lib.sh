# Shared by the command-line tests: BIN is the folder of the programs, ROOT the source tree. Each test runs
# in a folder of its own with its own cache and database.
set -u
BIN=$1
ROOT=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TILEWRIGHT_CACHE="$work/cache" TILEWRIGHT_DB="$work/tuning.db"
cd "$work"
failures=0
checks=0

# expect STATUS TEXT COMMAND…: the command ends with the status and its output (both streams) has the text.
expect() {
  local status=$1 text=$2 output actual
  shift 2
  output=$("$@" 2>&1)
  actual=$?
  checks=$((checks + 1))
  if [ "$actual" != "$status" ] || [[ "$output" != *"$text"* ]]; then
    failures=$((failures + 1))
    printf 'FAILED: %s\n  status %s, expected %s; expected to see: %s\n%s\n' "$*" "$actual" "$status" "$text" "$output"
  fi
}

finish() {
  printf '%d passed, %d failed\n' $((checks - failures)) "$failures"
  [ "$failures" = 0 ] && [ "$checks" -gt 0 ]
  exit
}
