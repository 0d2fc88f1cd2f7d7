#!/usr/bin/env bash
# Usage: mpich/build.sh [DEVICE]. Builds MPICH for this device (ch3:sock, ch3:nemesis, ch4:ofi) from the distribution's
# source package into the cache (EPOP_CACHE), once. Interrupted or failed, the next call goes on where it stopped.
# MPICH_JOBS sets the number of compilers at once. MPICH_LANGUAGES="fortran c++" adds mpif90, mpicxx and their libraries;
# an installation without them is replaced by one that has them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/recipe.sh"
. "$here/source.sh"
. "$here/stages.sh"

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

build() {
    echo "building MPICH $version, $device${languages:+, with$languages}, for $prefix (once, some minutes; logs in $logs)"
    prepare "$(recipe_options)"
    # shellcheck disable=SC2046
    stage packages "$here/../deps.sh" $(recipe_packages)
    stages_source
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
