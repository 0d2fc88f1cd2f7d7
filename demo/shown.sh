# Sourced by demo.sh and jobs.sh: steps and commands as they are shown. `limit` is in seconds, of a command.
# shellcheck shell=bash
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
