#!/usr/bin/env bash
# Usage: tests/again.sh N [LOAD]. Runs all stages of `make test` N times, each time in another order, beside LOAD processes that
# only compute, and prints how often each stage failed, with where its output is. TEST_STAGES is as for `make test`.
# Fails if a stage failed once: a test that fails one time in a hundred has found something.
set -u
cd "$(dirname "$0")/.." || exit
usage() {
    echo "usage: tests/again.sh N [LOAD]: $1" >&2
    exit 2
}
[[ ${1:-} =~ ^[1-9][0-9]{0,3}$ ]] || usage 'N is how often, a number from 1 on'
[[ ${2:-0} =~ ^[0-9]{1,3}$ ]] || usage 'LOAD is how many processes compute beside the tests, a number from 0 on'
[ $# -le 2 ] || usage "what is '$3'?"
rounds=$1 load=${2:-0}
export BUILD=${BUILD:-build}
make -s all tests || exit
logs=$BUILD/test-logs/again-$$
mkdir -p "$logs"

busy=()
trap '[ ${#busy[@]} -eq 0 ] || kill "${busy[@]}"' EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < load; i++)); do
    (while :; do :; done) &
    busy+=($!)
done

for ((round = 1; round <= rounds; round++)); do
    seed=$RANDOM
    printf 'round %d of %d, TEST_SHUFFLE=%d, beside %d busy processes\n' "$round" "$rounds" "$seed" "$load"
    CI='' TEST_LOGS=$logs/$round TEST_SHUFFLE=$seed tests/all.sh >"$logs/$round.out" 2>&1
    grep -E '^FAILED |^[0-9]+ passed, ' "$logs/$round.out" || tail -n 5 "$logs/$round.out"
done

sum=$(cat "$logs"/*.out | awk '
    /^(ok|FAILED) +.* [0-9]+ s( |$)/ {
        name = $0; sub(/^(ok|FAILED) +/, "", name); sub(/ +[0-9]+ s( .*)?$/, "", name)
        runs[name]++; if (/^FAILED/) failed[name]++
    }
    END { for (name in runs) { all += runs[name]; bad += failed[name]; if (failed[name]) printf "%-30s failed %d of %d\n", name, failed[name], runs[name] | "sort"
        } close("sort"); printf "%d of %d stages failed (%s)\n", bad, all, logs; exit !all || bad > 0 }' logs="$logs")
status=$?
echo "$sum"
exit $status
