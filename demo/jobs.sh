#!/bin/bash
# Two jobs on four nodes, which epoprm makes of this machine: the first has all of them, gives two to the second, and takes
# them back. The result is a page with what each had when, and why. Called by demo/demo.sh; EPOP_BUILD names the build tree.
set -eu

. "$(dirname "$0")/common.sh"

synthetic=$build/lib/epop/programs/synthetic.so
limit=120 # seconds, for each thing that is waited for
export EPOPRM_DIR=$work/rm # no other daemon of this user is in the way

before_end() { epoprm stop --jobs >/dev/null 2>&1 || true; }

# Prints what is watched up to the first line with all of these words.
show_until() {
    local line word all
    while read -r -t "$limit" -u 3 line; do
        printf '  %s\n' "$line"
        all=yes
        for word in "$@"; do
            case $line in *"$word"*) ;; *) all= ;; esac
        done
        [ -z "$all" ] || return 0
    done
    fail "no line with: $*"
}

step "Four nodes on this machine"
run epoprm start --local 4
mkfifo "$work/watch"
printf '%s$ epoprm watch &%s\n' "$bold" "$plain"
timeout $((3 * limit)) epoprm watch >"$work/watch" 2>&1 </dev/null &
pids=$!
exec 3<"$work/watch"
show_until TIME # it is connected: from here on it hears of all

step "A job that takes what there is: 1 to 4 ranks"
run epoprm submit --ranks 1-4 --name wide -o "$work/wide" -- "$synthetic" mib=64 phase=solve iterations=400 seconds=0.25
show_until running

step "Another one, of exactly 2"
run epoprm submit --ranks 2 --time 1m --name guest -o "$work/guest" -- "$synthetic" phase=visit iterations=60 seconds=0.25
show_until settled
run epoprm queue
show_until ended
show_until settled
run epoprm nodes
show_until ended

step "Nothing was lost, and this is why the nodes went where they went"
cat "$work/wide" "$work/guest"
run epoprm why 1
if [ -x "$build/bin/epop-report" ]; then
    result=$build/demo.html
    run epoprm report -o "$result"
else
    result=$build/demo.json
    run epoprm report --format json -o "$result"
fi
printf '\nA job gave way to another one and took its nodes back. What each had when: %s\n' "$result"
