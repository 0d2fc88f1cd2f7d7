#!/usr/bin/env bash
# Usage: mpich/build.sh [DEVICE]. Builds MPICH for this device (ch3:sock, ch3:nemesis, ch4:ofi) from the distribution's
# source package into the cache (EPOP_CACHE), once. Interrupted or failed, the next call goes on where it stopped.
# MPICH_JOBS sets the number of compilers at once. MPICH_LANGUAGES="fortran c++" adds mpif90, mpicxx and their libraries;
# an installation without them is replaced by one that has them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/recipe.sh"
. "$here/source.sh"

configure() {
    rm -rf "$work/objects"
    mkdir -p "$work/objects"
    cd "$work/objects"
    # shellcheck disable=SC2046
    nice -n 19 ../source/configure $(recipe_options)
}

# How many threads a program may have is no matter of compilers, but nproc counts them.
compile() {
    nice -n 19 make -C "$work/objects" -j "${MPICH_JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}" V=0
}

# Put together beside its place and moved there as a whole. Its paths are compiled in: it can only be tried there.
install_tree() {
    rm -rf "$work/stage" "$prefix.old"
    make -C "$work/objects" install "DESTDIR=$work/stage"
    [ ! -e "$prefix" ] || mv "$prefix" "$prefix.old"
    mv "$work/stage$prefix" "$prefix"
    rm -rf "$prefix.old"
}

# What programs count on: the soname of the distribution's MPICH, and that they compile and start.
check() {
    readelf -d "$prefix/lib/libmpich.so" | grep -F 'soname: [libmpich.so.12]'
    "$prefix/bin/mpicc" -I"$here/.." "$here/capabilities.c" "$here"/../{driver/epop/probe_mpi,runtime/backends/device}.c -o "$work/capabilities"
    timeout 60 "$prefix/bin/mpiexec" -n 2 "$work/capabilities" version
    ! recipe_has fortran || check_language mpif90 f90 '      use mpi; call mpi_init(i); call mpi_finalize(i); end'
    ! recipe_has c++ || check_language mpicxx cc '#include <mpi.h>
        int main() { MPI_Init(0, 0); return MPI_Finalize(); }'
}

check_language() { # COMPILER SUFFIX SOURCE
    echo "$3" >"$work/language.$2"
    "$prefix/bin/$1" "$work/language.$2" -o "$work/language"
    timeout 60 "$prefix/bin/mpiexec" -n 2 "$work/language"
}

# Writes what comes in to the log, and while there is much to compile says every 15 s how far it is.
follow() { # NAME LOG
    local begin=$SECONDS said=$SECONDS files=0 line
    while IFS= read -r line; do
        echo "$line" >>"$2"
        [[ $line != '  CC '* ]] || files=$((files + 1))
        if [ $((SECONDS - said)) -ge 15 ] && [ "$files" -gt 0 ]; then
            said=$SECONDS
            printf '  %-10s %4d s, %d files\n' "$1" $((SECONDS - begin)) "$files"
        fi
    done
}

# stage NAME COMMAND...: once, unless a former call came so far. Says how long it took, or where it failed.
stage() {
    local name=$1 begin=$SECONDS log=$logs/$1.txt status
    shift
    [ ! -e "$work/done/$name" ] || return 0
    : >"$log"
    set +e # what stands in a condition would not end at its first error
    (set -e && "$@") 2>&1 </dev/null | follow "$name" "$log"
    status=${PIPESTATUS[0]}
    set -e
    if [ "$status" != 0 ]; then
        tail -n 15 "$log" >&2
        fail "'$name' failed after $((SECONDS - begin)) s, see $log; the next call goes on there"
    fi
    printf '  %-10s %4d s\n' "$name" $((SECONDS - begin))
    touch "$work/done/$name"
}

# Two builds at once would write the same files; the second one waits, and finds its work done.
lock() {
    mkdir -p "$cache" && [ -w "$cache" ] || fail "EPOP_CACHE can name another directory for the build than '$cache'"
    exec 9>"$cache/lock"
    flock --nonblock 9 || {
        echo "mpich: another build is running, waiting for it"
        flock 9
    }
}

# A build that was begun with other options is of no use.
prepare() {
    local options
    options=$(recipe_options)
    if [ "$(cat "$work/recipe" 2>/dev/null)" != "$options" ]; then
        rm -rf "$work"
        mkdir -p "$work"
        echo "$options" >"$work/recipe"
    fi
    mkdir -p "$work/done" "$logs"
}

build() {
    echo "building MPICH $version, $device${languages:+, with$languages}, for $prefix (once, some minutes; logs in $logs)"
    prepare
    # shellcheck disable=SC2046
    stage packages "$here/../deps.sh" $(recipe_packages)
    if [ ! -e "$cache/source/mpich_$version.complete" ]; then
        stage index source_index
        stage download source_download
    fi
    stage unpack source_unpack "$work/source"
    stage configure configure
    stage compile compile
    stage install install_tree
    stage check check
    recipe_options >"$prefix/recipe"
    rm -rf "$work"
}

# A function, as the shell reads a script bit by bit: the file may change while it runs.
main() {
    recipe_choose "${1:-ch3:sock}"
    logs=$cache/log/${prefix##*/}
    recipe_is_there || lock
    recipe_is_there || build
    echo "mpich $version, $device: $prefix"
    exit
}
main "$@"
