#!/usr/bin/env bash
# All tests, in stages, a line for each that has ended; the last words of a failed stage's output follow it.
# Called by `make test`, which has built everything. TEST_STAGES="unit run:join" runs some of them, by the first word of their names
# or by all words (one of `sock` brings those that it needs); TEST_SHUFFLE=NUMBER all in another order, the same for the same number;
# TEST_AT_ONCE=NUMBER so many beside each other. With CI=true a stage that failed runs a second time, and counts as passed if it
# passes then ("again"); it is named as unsteady, with what went wrong at first; and there are the stages of another Debian.
# A stage that ends with 77 could not be run here.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build} MPIEXEC=${MPIEXEC:-mpiexec.mpich} PYTHON=${PYTHON:-/usr/bin/python3}
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 EPOP_BUILD=$BUILD
sock=$(mpich/prefix.sh ch3:sock) || exit
runtime=$(mktemp -d) # no stage sees, or disturbs, the user's own jobs or those of another one
trap 'rm -rf "$runtime"' EXIT
trap 'kill "${!running[@]}" 2>/dev/null; wait; exit 130' INT TERM
set -m # as in a terminal
logs=${TEST_LOGS:-$BUILD/test-logs}
mkdir -p "$logs"
passed=0 failed=0 skipped=0 unsteady=''
stages=()
chosen=" ${TEST_STAGES:-} "
[[ $chosen != *" sock:"* ]] || chosen+='sock:mpich sock:build '
[[ $chosen != *" abi:"* ]] || chosen+='abi:build '
declare -A named=()            # what TEST_STAGES may have
declare -A running=() begun=() # by the number of the process
at_once=${TEST_AT_ONCE:-3}     # while one waits others compute
alone='(sock\\ (mpich|build)|abi\\ build)' # what the others of `sock` and `abi` need
if ! [[ $at_once =~ ^[1-9][0-9]?$ ]]; then
    echo "TEST_AT_ONCE is how many stages run beside each other, a number from 1 on, and not '$at_once'" >&2
    exit 2
fi

# The file of tests of that name, in REPLY: in the folder of any subject.
find_test() { # NAME
    local found=(tests/run/*/"test_$1.py")
    REPLY=${found[0]}
    [ ${#found[@]} -eq 1 ] && [ -f "$REPLY" ] || {
        echo "tests/all.sh: which file is test_$1.py? ${found[*]}" >&2
        exit 2
    }
}

# stage NAME SECONDS COMMAND...   The limit is for what hangs: a busy machine is ten times as slow as a quiet one.
stage() {
    named[${1%% *}]=yes named[${1// /:}]=yes
    [[ -n ${TEST_STAGES:-} && $chosen != *" ${1%% *} "* && $chosen != *" ${1// /:} "* ]] || stages+=("$(printf '%q ' "$@")")
}

# In a process of its own. 0: it passed; 3: only in a second try.
run_stage() { # as stage
    local log=$logs/${1// /-}.log limit=$2 tried status
    trap 'kill -INT "$tried" && wait "$tried"; exit 1' TERM # by which pytest ends what it started
    export XDG_RUNTIME_DIR=$runtime/${1// /-}
    mkdir -m 700 "$XDG_RUNTIME_DIR"
    shift 2
    try "$log" "$@"
    status=$?
    ! { [ $status -eq 0 ] && grep -q '^unsteady, ' "$log"; } || return 3 # stages of another system
    [ $status -ne 0 ] && [ $status -ne 77 ] || return $status
    [ "${CI:-}" = true ] && again=yes try "$log-again" "$@" && return 3
    return 1
}

# Some bashes let what runs beside something ignore SIGINT and SIGQUIT, also with `set -m`.
try() { # LOG COMMAND...
    env --default-signal=INT,QUIT timeout --kill-after=10 "$limit" "${@:2}" >"$1" 2>&1 </dev/null &
    tried=$!
    wait "$tried"
}

start_stage() { # as stage
    run_stage "$@" &
    running[$!]=$1 begun[$!]=$SECONDS
}

# Waits for one that runs, and says how it went.
end_stage() {
    local pid status name log
    wait -n -p pid "${!running[@]}"
    status=$? name=${running[$pid]}
    log=$logs/${name// /-}.log
    case $status in 77) skipped=$((skipped + 1)) ;; 0) passed=$((passed + 1)) ;; 3) passed=$((passed + 1)) unsteady+=" '$name'" ;; *) failed=$((failed + 1)) ;; esac
    case $status in
    0) printf 'ok      %-28s %4d s\n' "$name" $((SECONDS - begun[$pid])) ;;
    77) printf 'skipped %-28s %4d s   (%s)\n' "$name" $((SECONDS - begun[$pid])) "$(tail -n 1 "$log")" ;;
    *)
        printf '%-7s %-28s %4d s   (%s)\n' "$([ $status -eq 3 ] && echo again || echo FAILED)" "$name" $((SECONDS - begun[$pid])) "$log"
        tail -n 60 "$log"
        ;;
    esac
    unset "running[$pid]" "begun[$pid]"
}

# Waits until fewer than so many run.
until_fewer_than() {
    while [ ${#running[@]} -ge "$1" ]; do
        end_stage
    done
}

# What the others need comes first in any order.
run_stages() {
    local stage most
    if [ -n "${TEST_SHUFFLE:-}" ]; then
        mapfile -t stages < <(printf '%s\n' "${stages[@]}" | grep -E "^$alone "
            printf '%s\n' "${stages[@]}" | grep -vE "^$alone " | shuf --random-source=<(yes "$TEST_SHUFFLE"))
    fi
    for stage in "${stages[@]}"; do
        [[ $stage =~ ^$alone\  ]] && most=1 || most=$at_once
        until_fewer_than "$most"
        eval "start_stage $stage"
        [ "$most" -gt 1 ] || until_fewer_than 1
    done
    until_fewer_than 1
}

# The trees of the sanitizers have what their tests need, and no more. CONTRIBUTING.md says what runs in which.
sanitized_tree() { # TARGETS...
    local flags='-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined'
    mkdir -p "$BUILD/sanitized"
    flock "$BUILD/sanitized" make --no-print-directory -j2 REPORT=no BUILD="$BUILD/sanitized" OPT='-O0 -g1' SANITIZE="$flags" "$@"
}

sanitized() {
    sanitized_tree units || return 1
    for test in "$BUILD"/sanitized/tests/unit/test_*[!d.]; do
        [ -x "$test" ] || continue
        echo "== $test"
        timeout 300 "$test" || return 1
    done
}

sanitized_job() {
    local tree=$BUILD/sanitized
    sanitized_tree "$tree"/{bin/epop{,ctl,sim,rm},lib/epop/attend,tests/programs/scenario_window.so} || return 1
    EPOP_BUILD=$tree "$PYTHON" -m pytest -q -x -p no:cacheprovider tests/run/sanitized/sanitized_job.py
}

# ThreadSanitizer does not know fences, and says so: they order the probe and the ceiling, which are atomic, too.
threads() {
    local tree=build/ch3-sock-threads test programs='tests/programs'
    local tests=(base clock wire_line wire_answers wire_server control_messages events records agreement meter handles rollcall)
    env -u MPIEXEC -u MPICC -u MAKEFLAGS make --no-print-directory -j2 REPORT=no DEVICE=ch3:sock BUILD="$tree" OPT='-O1 -g1' \
        SANITIZE='-fsanitize=thread -fno-omit-frame-pointer -Wno-tsan' "${tests[@]/#/$tree/tests/unit/test_}" \
        "$tree"/{bin/epop,bin/epopctl,lib/libepop_mpi.so,lib/epop/tether,lib/epop/programs/rigid.so} \
        "$tree/$programs"/{scenario_window,constants,preload_fault}.so "$tree"/tests/helpers/fake_{job,member} || return 1
    for test in "${tests[@]}"; do
        echo "== $test"
        TSAN_OPTIONS=report_thread_leaks=0 timeout 300 "$tree/tests/unit/test_$test" || return 1
    done
    EPOP_BUILD=$tree MPIEXEC="$sock/bin/mpiexec" MPICC="$sock/bin/mpicc" \
        "$PYTHON" -m pytest -q -x -p no:cacheprovider tests/run/sanitized/sanitized_threads.py tests/run/control/test_relays.py
}

# Each clang-format has its own idea of the same rules; ours is that of Debian 12.
style() {
    if [[ $(clang-format --version) != *'version 14.'* ]]; then
        echo "not looked at: this is not clang-format 14, but $(clang-format --version)"
        return 0
    fi
    find . -path ./build -prune -o -path "./$BUILD" -prune -o -name '*.[ch]' -exec clang-format --dry-run --Werror {} +
}

# What measures is built, too, and runs; the figures of a machine with tests on it are of no use, and not kept.
benches() {
    make --no-print-directory BUILD="$BUILD" benches && "$PYTHON" -B bench/run.py --quick probe walk
}

# A slow machine needs all of CI's time for itself.
platform() { # SUITE STAGES...
    if [ -z "${again:-}" ] && [ $(($(date +%s) - all_begun)) -gt 2000 ]; then
        echo 'this machine is slow: nothing was looked at (tests/platforms/run trixie)'
        return 77
    fi
    REPORT=no TEST_AT_ONCE=2 tests/platforms/run "$@"
}

# The standard interface, and another MPI that has it: its packages are no newcomer's.
abi_build() {
    mpich/mpicc-abi -show || return 77
    ./deps.sh openmpi-bin || return 77
    make --no-print-directory -j2 ABI=yes all tests
}

# With the library of that MPI, and its launcher, which wants to be told that ranks are root's, and more than cores.
abi() { # MPI FILE
    local libraries=(/usr/lib/*/"libmpi_abi_$1.so".*) library=$PWD/build/abi/mpi/$1
    [ -e "${libraries[0]}" ] || { echo "there is no libmpi_abi of $1 here" && return 77; }
    mkdir -p "$library" && ln -sfn "${libraries[0]}" "$library/libmpi_abi.so.1" || return 1
    [ "$1" != openmpi ] || export EPOP_JOINS=yes
    LD_LIBRARY_PATH=$library EPOP_BUILD=build/abi MPIEXEC=mpiexec.$1 MPICC=$PWD/mpich/mpicc-abi \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_mapby=:oversubscribe \
        "$PYTHON" -m pytest -q -x -p no:cacheprovider "$2"
}

mpi_test() { # RANKS NAME ARGUMENTS...
    local ranks=$1 name=$2
    shift 2
    "$MPIEXEC" -n "$ranks" "$BUILD/tests/mpi/$name" "$@"
}

all_begun=$(date +%s)
export -f sanitized_tree sanitized sanitized_job threads benches platform abi_build abi mpi_test
export all_begun
export BUILD MPIEXEC PYTHON sock

stage style 300 bash -c "$(declare -f style); style"
for test in "$BUILD"/tests/unit/test_*; do
    case $test in *.d) continue ;; esac
    [ -x "$test" ] && stage "unit ${test##*/test_}" 300 "$test"
done
stage "sanitized units" 1800 bash -c sanitized
stage "sanitized job" 1800 bash -c sanitized_job
for test in "$BUILD"/tests/mpi/test_*; do
    case $test in *.d) continue ;; esac
    [ -x "$test" ] && stage "mpi ${test##*/test_}" 600 bash -c "mpi_test 4 ${test##*/}"
done
# What the tests of recipes would build, or wait for; not every archive has the sources.
stage libraries 3000 bash -c 'env -u MPICC -u MPIEXEC make --no-print-directory libraries || exit 77'
for test in tests/run/*/test_*.py; do
    name=${test##*/test_}
    case ${name%.py} in
    checkpoint | checkpoint_file | restart_programs) workers=3 ;; # they wait more than they compute
    *) workers=0 ;;
    esac
    stage "run ${name%.py}" 1800 "$PYTHON" -m pytest -q -x -n $workers -p no:cacheprovider "$test"
done

stage demo 900 demo/demo.sh
stage benches 900 bash -c benches

# What needs an MPI that can connect processes: the same tree with an MPICH for ch3:sock (docs/reference/mpich.md), which is built
# when it is missing, with Fortran.
stage "sock mpich" 3000 env MPICH_LANGUAGES=fortran mpich/build.sh ch3:sock
stage "sock build" 3000 env -u BUILD -u MPIEXEC -u MPICC -u MAKEFLAGS make --no-print-directory -j2 DEVICE=ch3:sock all test-programs
# On another Debian: its compiler and libraries, and what depends most on its MPICH, Hydra and HDF5. Its MPICH
# cannot connect processes, which the tests of Slurm need.
on_platform='capabilities checkpoint_file children crash faults interpose job ledger mpi_adapt psets published recover signals symbols'
if [ "${CI:-}" = true ]; then
    # shellcheck disable=SC2086
    stage "platform trixie" 1500 bash -c 'platform "$@"' platform trixie unit mpi $(printf 'run:%s ' $on_platform)
fi

stage threads 1800 bash -c threads
# Those that take longest and mostly wait come first, so that others compute meanwhile.
on_sock=(
    # Jobs in a real Slurm gain and lose nodes.
    slurm_companions slurm_variants slurm_runtime slurm_adviser
    # The backends that start processes, and what becomes of those.
    soak join spawn_faults baseline parking hosts releases conditions cycles transactions preconnect balance trace_hosts profile_backends tune_backends recover_hosts synthetic amr
    # Jobs of epoprm grow and shrink.
    epoprm epoprm_faults epoprm_hosts epoprm_jobs epoprm_loops epoprm_psets epoprm_recovery epoprm_requeue epoprm_slots epoprm_soak epoprm_topology attend attend_link
    # What happens in a launch of its own, too: ends, crashes, hangs, children, words with a supervisor.
    ends crash stopped faults force children recover_words where debug_stops debug_hosts measure outlook trace unwritten capabilities interpose papers
    # Executables grow by new processes alone.
    shapes public_shapes conformance hwloc psets reinit mpi_adapt mpi_redist first_probe leaving cg fortran python
    # Data moves to processes that join, also ahead of the window.
    ahead ahead_kinds describe kinds mistakes cxx stencil libraries restart_programs
    # No test of these needs it.
    resize ledger records
)
# Of these files all tests, as they do something else here than with the system's MPI: --backend auto is join, the pool connects
# joining ranks ahead, executables grow, and a rank's death is seen through another device. Of the others only what needs join.
on_both=' resize ledger records ahead ahead_kinds describe kinds mpi_adapt leaving cg fortran capabilities force crash faults '
for test in "${on_sock[@]}"; do
    find_test "$test"
    case $test in
    stopped) workers=4 ;; # its tests do nothing but wait for time limits
    children | ends | epoprm_hosts | epoprm_recovery | first_probe | join | mpi_adapt | parking | recover_hosts | releases | spawn_faults | transactions | restart_programs | where) workers=3 ;; # they wait more than they compute
    *) workers=0 ;;
    esac
    [[ $on_both == *" $test "* ]] && joins=yes || joins=alone
    stage "sock $test" 1800 env EPOP_JOINS=$joins EPOP_BUILD=build/ch3-sock MPIEXEC="$sock/bin/mpiexec" MPICC="$sock/bin/mpicc" \
        "$PYTHON" -m pytest -q -x -n $workers -p no:cacheprovider "$REPLY"
done

# One build for MPICH and Open MPI, where there is MPI's standard interface (docs/reference/mpi.md).
on_abi=(ledger resize describe cannon gauss checkpoint psets mpi_adapt join prrte)
if mpich/mpicc-abi -show >"$logs/abi" 2>&1 || [[ $chosen == *" abi"[\ :]* ]]; then
    stage "abi build" 3000 env -u BUILD -u MPIEXEC -u MPICC -u MAKEFLAGS bash -c abi_build
    for mpi in mpich openmpi; do
        for test in "${on_abi[@]}"; do
            find_test "$test"
            stage "abi $mpi-$test" 1800 bash -c "abi $mpi $REPLY"
        done
    done
fi

for name in ${TEST_STAGES:-}; do
    [ -n "${named[$name]:-}" ] || {
        echo "tests/all.sh: TEST_STAGES: there is no stage '$name'" >&2
        exit 2
    }
done
run_stages

[ -z "$unsteady" ] || printf 'unsteady, to be looked into: %s\n' "$unsteady"
printf '%d passed, %d failed%s\n' "$passed" "$failed" "$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -eq ${#stages[@]} ]
