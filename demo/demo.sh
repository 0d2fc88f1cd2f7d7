#!/bin/bash
# A matrix multiplication on real files goes from 4 ranks to 1 and back to 4 while it runs, on requests
# from outside, and its result is verified. Then two jobs share four nodes (jobs.sh). `make demo` runs this after building;
# EPOP_BUILD names the build tree.
set -eu

. "$(dirname "$0")/common.sh"

mpiexec=${MPIEXEC:-mpiexec.mpich}
cannon=$build/lib/epop/examples/cannon.so
limit=300 # seconds, for each thing that is waited for
ranks=4
try=${DEMO_TRY:-1}

# Prints the lines that come in on descriptor $1, marked with $2, up to the first one that contains $3.
show_until() {
    local line
    while read -r -t "$limit" -u "$1" line; do
        printf '  %-6s| %s\n' "$2" "$line"
        case $line in *"$3"*) return 0 ;; esac
    done
    return 1
}

# Ends the demo, after what the job has to say.
give_up() {
    kill "$job_pid" 2>/dev/null || true
    show_until 3 job $'\n' || true
    fail "$@"
}

# The job is over before all of it was shown: how fast the machine is was measured beside something else. Once more, with more to
# compute, and the rest of the demo with it.
try_again() {
    show_until 3 job "wrote C.npy" && wait "$job_pid" || fail "the job failed"
    [ "$try" -lt 3 ] || fail "the job ended too early, $try times; is the machine busy?"
    printf '\nThe multiplication was over before all was shown: once more, with a larger one.\n'
    rm -f A.npy B.npy C.npy
    DEMO_TRY=$((try + 1)) "$root/demo/demo.sh"
    exit
}

# To $1 ranks, from this second command.
resize() {
    local status=0
    run epopctl resize "$1" --wait 2>refusal || status=$?
    cat refusal >&2
    [ $status -ne 0 ] || return 0
    [ $status -ne 3 ] && ! grep -q "the program has ended" refusal || try_again
    give_up "the resize failed"
}

# Called while something is waited for that sends no message. The job has a time limit, so that this ends.
look_again() {
    kill -0 "$job_pid" 2>/dev/null || try_again
    read -r -t 0.1 -u 5 || true
}

# Until the watch has told of something: what happens before it is connected it does not hear of.
wait_for_watch() {
    local line
    until read -r -t 0.1 -u 4 line; do
        look_again
        timeout "$limit" epopctl pause >/dev/null && timeout "$limit" epopctl resume >/dev/null || true
    done
}

# The share of the multiplication that is done, in percent. 0 while it is not known.
percent_done() {
    local progress
    progress=$(timeout "$limit" epopctl status --json | tr -d ' \t\n' |
        sed -n 's/.*"progress":{[^}]*"iteration":\([0-9]*\),"bound":\([0-9]*\)[,}].*/100 * \1 \/ \2/p')
    echo $((${progress:-0}))
}

# Lets the job compute until so many percent are done.
wait_for_percent() {
    local percent=0
    while [ "$percent" -lt "$1" ]; do
        look_again
        percent=$(percent_done)
    done
    printf '  %s %% of the multiplication are done\n' "$percent"
}

# An order for which the multiplication takes some 20 s on one rank, longer in another try, and whose files fit into half of the
# memory and of the disk.
choose_order() {
    local gflops memory disk
    gflops=$("$mpiexec" -n 1 epop "$cannon" --random 1200 --repeat 3 --json | sed -n 's/.*"gflops": \([0-9.]*\).*/\1/p')
    memory=$(awk '/^MemAvailable:/ { print $2 * 1024 }' /proc/meminfo)
    disk=$(df -P "$work" | awk 'NR == 2 { print $4 * 1024 }')
    awk -v gflops="$gflops" -v memory="$memory" -v disk="$disk" -v seconds=$((20 * try)) 'BEGIN {
        order = (seconds * 1e9 * gflops / 2) ^ (1 / 3)
        if (order > sqrt(memory / 2 / 72)) order = sqrt(memory / 2 / 72)  # three matrices, twice, and their files
        if (order > sqrt(disk / 2 / 24)) order = sqrt(disk / 2 / 24)
        print int(order / 100) * 100
    }'
}

step "Two matrices, as files"
order=$(choose_order)
[ "$order" -ge 100 ] || fail "too little memory or disk space"
cd "$work"
run "$mpiexec" -n 1 epop "$cannon" --random "$order" --save A.npy B.npy
ls -lh A.npy B.npy | awk '{ print "  " $9, $5 }'

step "C = A * B on $ranks ranks, in the background"
mkfifo job watch silence
exec 5<>silence
printf '%s$ %s%s\n' "$bold" "$mpiexec -n $ranks epop cannon.so A.npy B.npy C.npy --verify &" "$plain"
timeout "$limit" "$mpiexec" -n $ranks epop "$cannon" A.npy B.npy C.npy --verify </dev/null >job 2>&1 &
job_pid=$! pids=$!
exec 3<job
show_until 3 job "cannon: read" || fail "the job did not start"
until timeout "$limit" epopctl list | grep -q '^cannon'; do
    look_again
done
printf '%s$ epopctl watch &%s\n' "$bold" "$plain"
timeout "$limit" epopctl watch </dev/null >watch 2>&1 &
watch_pid=$!
pids="$watch_pid $job_pid"
exec 4<watch
wait_for_watch
wait_for_percent 10

step "To 1 rank, from this second command, while it computes"
resize 1
show_until 4 watch committed || fail "no news of the resize"
wait_for_percent 40

step "Back to $ranks ranks"
resize $ranks
show_until 4 watch committed || fail "no news of the resize"
run epopctl status

step "The result"
show_until 3 job "wrote C.npy" || fail "the job did not write its result"
status=0
wait "$job_pid" || status=$?
pids=$watch_pid
[ $status -eq 0 ] || fail "the job ended with status $status"
ls -lh C.npy | awk '{ print "  " $9, $5 }'
printf '\nOne multiplication of %s x %s matrices ran on 4, then 1, then 4 ranks, and its result is verified.\n' \
    "$order" "$order"

"$root/demo/jobs.sh"
