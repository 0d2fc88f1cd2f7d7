#!/bin/sh
# Usage: deps.sh PACKAGE... Installs those of these Debian packages that are missing, as root or through sudo. What is found
# without its package, say in a prefix that PKG_CONFIG_PATH and PATH name, is not missing. Where nothing can be installed, as
# there is no apt-get or no root, it says what is to be, and what that gives. Called by make, and by mpich/build.sh.
set -eu

# How what a package gives is found (by pkg-config, as a command, or as a module of Python), and what it is; "may": it can be left out.
gives() {
    case $1 in
    gcc) echo command "${CC:-cc}" a C compiler ;;
    g++) echo command "${CXX:-g++}" a C++ compiler ;;
    gfortran) echo may-command gfortran a Fortran compiler, for Fortran programs ;;
    binutils) echo command ld the linker, readelf and nm ;;
    libc6-dev) echo command getconf the C library\'s headers ;;
    pkg-config) echo command pkg-config pkg-config or pkgconf ;;
    python3) echo command python3 Python 3 ;;
    mpich) echo command "${MPIEXEC:-mpiexec.mpich}" MPICH, its launcher: MPIEXEC names another ;;
    libmpich-dev) echo command "${MPICC:-mpicc.mpich}" MPICH, its compiler command: MPICC names another ;;
    libcjson-dev) echo library libcjson cJSON ;;
    libevent-dev) echo library libevent_pthreads libevent ;;
    libsodium-dev) echo library libsodium libsodium ;;
    libdw-dev) echo library libdw elfutils ;;
    zlib1g-dev) echo library zlib zlib ;;
    libsqlite3-dev) echo library sqlite3 SQLite 3 ;;
    libopenblas-dev) echo library openblas OpenBLAS ;;
    libpmix-dev) echo may-library pmix OpenPMIx, for what its tools ask of a job ;;
    libhdf5-dev) echo may-library hdf5-serial,hdf5 HDF5, for checkpoints in files ;;
    libhdf5-mpich-dev) echo may-library hdf5-mpich parallel HDF5, for a recipe and a benchmark ;;
    libscalapack-mpich-dev) echo may-library scalapack-mpich ScaLAPACK, for a recipe and benchmarks ;;
    libmunge-dev) echo may-library munge munge, for sites with several users ;;
    libslurm-dev) echo may-library slurm Slurm, for its policies ;;
    libcmocka-dev) echo library cmocka cmocka ;;
    duktape-dev) echo library duktape Duktape, for epop-report: without it make REPORT=no ;;
    nodejs) echo command node Node.js, for epop-report: without it make REPORT=no ;;
    npm) echo command npm npm, for epop-report: without it make REPORT=no ;;
    mandoc) echo may-command mandoc mandoc, for the pages as HTML ;;
    python3-markdown) echo may-module markdown Python-Markdown, for the pages as HTML ;;
    git | clang | clang-format | cmake | fish | gdb | zsh) echo command "$1" "$1" ;;
    *) echo package - "$1" ;;
    esac
}

# found KIND NAME...: is it there without a package?
found() {
    case $1 in
    *command) command -v "$2" >/dev/null ;;
    *module) "${PYTHON:-python3}" -c "import $2" 2>/dev/null ;;
    *library) pkg-config --exists "${2%,*}" 2>/dev/null || pkg-config --exists "${2#*,}" 2>/dev/null ;;
    *) return 1 ;;
    esac
}

missing=
for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
    # shellcheck disable=SC2046
    found $(gives "$package") || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# say_missing may|: those that can be left out, or the others. Fails if there is none.
say_missing() {
    none=1
    for package in $missing; do
        text=$(gives "$package")
        case $1,$text in may,may-* | ,[!m]*) ;; *) continue ;; esac
        [ $none = 0 ] || echo "epop: $2" >&2
        none=0
        rest=${text#* }
        echo "epop:   $package: ${rest#* }" >&2
    done
    return $none
}

# What can be left out is no failure.
fail() {
    say_missing may "$1; left out is what these Debian packages, or what they are called here, give:" || true
    ! say_missing '' "$1; install these Debian packages, or what they are called here:" || exit 1
    exit 0
}

command -v apt-get >/dev/null || fail "there is no apt-get"
sudo=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "this needs root, and there is no sudo"
    sudo=sudo
fi

# A machine that was just started may be installing its updates.
apt() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 "$@" </dev/null >/dev/null
}

echo "installing:$missing"
# Lists that cannot be renewed may still do.
apt update || true
# shellcheck disable=SC2086
apt install -y --no-install-recommends $missing || fail "apt-get could not install everything"
