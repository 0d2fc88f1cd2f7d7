# Sourced by demo.sh and jobs.sh: where things are, how all ends, and how steps and commands are shown. `limit` is in seconds, of
# a command; `pids` are processes that end with the demo, after what a function `before_end` does.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$root" && cd "${EPOP_BUILD:-build}" && pwd)

export PATH="$build/bin:$PATH"
export OPENBLAS_NUM_THREADS=1 # the ranks share the cores

work=$(mktemp -d "${TMPDIR:-/tmp}/epop-demo.XXXXXX")
export EPOP_RUNTIME_DIR=$work # the jobs' address files: no other job of this user is in the way
pids=

before_end() { :; }

clean_up() {
    trap - EXIT INT TERM
    before_end
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -t 1 ]; then
    bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
else
    bold='' plain=''
fi

step() {
    printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

fail() {
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

# Shows a command, then runs it.
run() {
    printf '%s$ %s%s\n' "$bold" "$*" "$plain"
    timeout "${limit:?}" "$@"
}
