#!/usr/bin/env bash
# Usage: python/mpi4py.sh [where]. Builds mpi4py with MPICH from the distribution's source package into the cache (EPOP_CACHE), once, as
# mpich/build.sh builds MPICH, and prints the folder for PYTHONPATH; with `where` only prints it. One build serves every MPICH of the soname
# libmpich.so.12. MPICC is MPICH's compiler command, PYTHON the interpreter, MPI4PY_VERSION another upstream version that the archive has,
# MPI4PY_SOURCE a folder that has the source, for machines without such an archive.
set -eu
here=$(cd "$(dirname "$0")/../mpich" && pwd)
. "$here/recipe.sh"
. "$here/source.sh"
. "$here/stages.sh"
package=mpi4py python=${PYTHON:-/usr/bin/python3} mpicc=${MPICC:-mpicc.mpich} mpiexec=${MPIEXEC:-mpiexec.mpich}

choose_version() {
    version=${MPI4PY_VERSION:-$(source_version python3-mpi4py)}
    [ -n "$version" ] || fail "no version known: apt has no python3-mpi4py; set MPI4PY_VERSION"
}

recipe() {
    echo "$mpicc $("$python" -c 'import sys; print(*sys.version_info[:2], sep=".")')"
}

compile() {
    cd "$work/source"
    nice -n 19 "$python" setup.py build --mpicc="$mpicc"
}

install_tree() {
    rm -rf "$work/stage" "$prefix"
    mkdir "$work/stage"
    cp -R "$work"/source/build/lib*/mpi4py "$work/stage"
    mv "$work/stage" "$prefix"
}

check() {
    PYTHONPATH=$prefix timeout 60 "$mpiexec" -n 2 "$python" -c '
from mpi4py import MPI
assert MPI.COMM_WORLD.size == 2 and MPI.get_vendor()[0] == "MPICH", MPI.get_vendor()'
}

build() {
    build_in_stages mpi4py "${MPI4PY_SOURCE:-}" 'python3-dev python3-setuptools cython3 python3-numpy' compile install_tree check
}

# A function, as the shell reads a script bit by bit: the file may change while it runs.
main() {
    choose_version
    print_made mpi4py "$version" "${1:-}"
}
main "$@"
