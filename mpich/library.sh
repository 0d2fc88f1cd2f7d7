#!/usr/bin/env bash
# Usage: mpich/library.sh fftw|hypre|petsc [where]. Builds that library with MPICH from the distribution's source package into the cache
# (EPOP_CACHE), once, as mpich/build.sh builds MPICH, and prints its folder; with `where` only prints it. It is a static library for shared
# objects, and as small as its configure allows. One build serves every MPICH of the soname libmpich.so.12. MPICC is MPICH's compiler
# command, LIBRARY_VERSION another upstream version that the archive has, LIBRARY_SOURCE a folder that has the source, for machines without
# such an archive.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/recipe.sh"
. "$here/source.sh"
. "$here/stages.sh"
library=${1:-} mpicc=${MPICC:-mpicc.mpich} mpiexec=${MPIEXEC:-mpiexec.mpich}

# Of each library: its source package, a package made of that, which tells the version; how it is configured and compiled, in the folder
# of its source; and a program that calls it.
case $library in
fftw) package=fftw3 binary=libfftw3-dev packages='' ;;
hypre) package=hypre binary=libhypre-dev packages='' ;;
petsc) package=petsc binary=libpetsc-real-dev packages='python3 libopenblas-dev' ;;
*) package='mpich/library.sh' && fail "which library? There are fftw, hypre and petsc" ;;
esac

fftw_configure() {
    ./configure --prefix="$prefix" --enable-mpi --disable-fortran --disable-doc --with-pic MPICC="$mpicc" CFLAGS=-O2
}
fftw_make() {
    make "$@"
}
fftw_program() {
    echo '#include <fftw3-mpi.h>
        int main(void) { MPI_Init(0, 0); fftw_mpi_init(); fftw_mpi_cleanup(); MPI_Finalize(); return 0; }'
}
fftw_flags='-lfftw3_mpi -lfftw3 -lm'

hypre_configure() {
    cd src
    ./configure --prefix="$prefix" --disable-fortran CC="$mpicc" CFLAGS='-O2 -fPIC'
}
hypre_make() {
    make -C src HYPRE_LIBNAME_EXT= "$@" # which a patch of Debian's has a configure of its own fill in
}
hypre_program() {
    echo '#include <HYPRE.h>
        #include <HYPRE_utilities.h>
        #include <mpi.h>
        int main(void) { MPI_Init(0, 0); int failed = HYPRE_Init() || HYPRE_Finalize(); MPI_Finalize(); return failed; }'
}
hypre_flags='-lHYPRE -lm'

petsc_configure() {
    PETSC_DIR=$PWD PETSC_ARCH=here python3 ./configure --prefix="$prefix" --with-cc="$mpicc" --with-fc=0 --with-cxx=0 --with-mpiexec="$mpiexec" \
        --with-debugging=0 --with-x=0 --with-shared-libraries=0 --with-pic=0 --with-blaslapack-lib=-lopenblas CFLAGS=-fPIC COPTFLAGS=-O2
}
petsc_make() {
    make PETSC_DIR="$PWD" PETSC_ARCH=here "$@"
}
petsc_program() {
    echo '#include <petscksp.h>
        int main(void) { return PetscInitializeNoArguments() || PetscFinalize(); }'
}
petsc_flags='-lpetsc -lopenblas -lm'

choose_version() {
    version=${LIBRARY_VERSION:-$(source_version "$binary")}
    [ -n "$version" ] || fail "no version known: apt has no $binary; set LIBRARY_VERSION"
}

recipe() {
    echo "$mpicc"
    declare -f "${library}_configure"
}

configure() {
    cd "$work/source"
    "${library}_configure"
}

compile() {
    cd "$work/source"
    renice -n 19 "$BASHPID" >/dev/null
    "${library}_make" -j"$(nproc)" all
}

install_tree() {
    cd "$work/source"
    rm -rf "$prefix"
    "${library}_make" install
}

check() {
    local flags="${library}_flags"
    "${library}_program" >"$work/check.c"
    # shellcheck disable=SC2086
    "$mpicc" -I"$prefix/include" "$work/check.c" -o "$work/check" -L"$prefix/lib" ${!flags}
    timeout 60 "$mpiexec" -n 2 "$work/check"
}

build() {
    build_in_stages "$library" "${LIBRARY_SOURCE:-}" "make patch xz-utils $packages" configure compile install_tree check
}

# A function, as the shell reads a script bit by bit: the file may change while it runs.
main() {
    choose_version
    print_made "$library" "${version%%+*}" "${2:-}"
}
main "$@"
