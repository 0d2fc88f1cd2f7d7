#!/usr/bin/env bash
# Usage: MPICC=... MPIEXEC=... mpich/capabilities.sh. Shows which MPI these belong to, and what it can do, by trying.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

find_command() { # NAME VARIABLE
    command -v "$1" || {
        echo "mpich: '$1' is not found; set $2" >&2
        exit 1
    }
}

mpicc=$(find_command "${MPICC:-mpicc.mpich}" MPICC)
# By its whole path: Hydra finds its other programs by the path that it was started with.
mpiexec=$(find_command "${MPIEXEC:-mpiexec.mpich}" MPIEXEC)
directory=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$directory"' EXIT
program=$directory/capabilities
"$mpicc" -I"$here/.." "$here/capabilities.c" "$here"/../{driver/epop/probe_mpi,runtime/backends/device}.c -o "$program"

show() {
    printf '%-10s %s\n' "$1" "$2"
}

run() { # RANKS ARGUMENTS...
    timeout --kill-after=5 30 "$mpiexec" -n "$1" "$program" "${@:2}" 2>"$directory/errors" </dev/null
}

# The answer to one question, or why there is none.
question() { # NAME RANKS ARGUMENTS...
    local line
    line=$(run "${@:2}") || true
    show "$1" "$([ -n "$line" ] && echo "${line#* }" || echo "no: $(tail -n 1 "$directory/errors")")"
}

# One launch opens a port, another one connects to it.
question_connect() {
    local kind='' port=''
    mkfifo "$directory/port"
    run 2 accept >"$directory/port" &
    server=$!
    read -r -t 30 kind port <"$directory/port" || true
    if [ "$kind" = port ]; then
        question connect 2 connect "$port"
    else
        show connect "${port:-no: $(tail -n 1 "$directory/errors")}"
    fi
    wait "$server" || true
    server=
}

show compiler "$mpicc"
show launcher "$mpiexec"
question library 1 version
show file "$(ldd "$program" | sed -n 's/^[[:space:]]*libmpi.* => \([^ ]*\).*/\1/p')"
question threads 1 threads
question spawn 2 spawn
question_connect
question files 2 files "$directory/file"
question waiting 2 wait
