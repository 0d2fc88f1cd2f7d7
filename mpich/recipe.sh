# shellcheck shell=bash disable=SC2034
# Which MPICH a device means: sourced by the other scripts of this folder, with the device as recipe_choose's argument.
# The version is that of the system's own MPICH package, so that programs built with either can be exchanged.

package=mpich # the source package

fail() {
    echo "$package: $*" >&2
    exit 1
}

cache=${EPOP_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set EPOP_CACHE to a directory for the build}/.cache}/epop}
cache=$(realpath -m "$cache")
case $cache in
*[[:space:]]*) fail "MPICH cannot be built in '$cache', which has a blank in it; set EPOP_CACHE to another directory" ;;
esac

# The upstream version of the installed MPICH; where there is none, of the one that apt would install.
recipe_version() {
    local version
    version=$(dpkg-query -W -f '${source:Upstream-Version}' libmpich-dev 2>/dev/null) ||
        version=$(apt-cache show --no-all-versions libmpich-dev 2>/dev/null |
            sed -n 's/^Version: \([0-9]*:\)\{0,1\}\(.*\)-[^-]*$/\2/p')
    [ -n "$version" ] || fail "no version known: install libmpich-dev, or set MPICH_VERSION"
    echo "$version"
}

# recipe_choose DEVICE: sets device, version, prefix (where it is installed), work (where it is built) and languages.
recipe_choose() {
    device=$1
    case $device in
    ch3:sock | ch3:nemesis | ch4:ofi) ;;
    *) fail "unknown device '$device'; there are ch3:sock, ch3:nemesis and ch4:ofi" ;;
    esac
    version=${MPICH_VERSION:-$(recipe_version)} || exit
    local name=mpich-$version-${device/:/-}
    prefix=$cache/$name
    work=$cache/build/$name
    recipe_languages
}

# What MPICH_LANGUAGES asks for, and what the installation has already: it is a superset for everybody, and a build anew
# takes nothing away.
recipe_languages() {
    local language
    languages=
    for language in ${MPICH_LANGUAGES:-}; do
        case $language in
        fortran | c++) languages+=" $language" ;;
        *) fail "unknown language '$language' in MPICH_LANGUAGES; there are fortran and c++" ;;
        esac
    done
    recipe_has fortran || [ ! -e "$prefix/bin/mpif90" ] || languages+=" fortran"
    recipe_has c++ || [ ! -e "$prefix/bin/mpicxx" ] || languages+=" c++"
}

# Is it built with this language, besides C?
recipe_has() {
    case " $languages " in
    *" $1 "*) return 0 ;;
    *) return 1 ;;
    esac
}

recipe_packages() {
    echo apt dpkg-dev gcc libc6-dev make xz-utils binutils libhwloc-dev
    ! recipe_has fortran || echo gfortran
    ! recipe_has c++ || echo g++
    [ "$device" != ch4:ofi ] || echo libfabric-dev
}

# Shared libraries, with Fortran and C++ if they are asked for. Yaksa, MPICH's engine for derived datatypes on GPUs, alone
# would take longer than all the rest. Error checking stays on.
recipe_options() {
    local fortran=--disable-fortran cxx=--disable-cxx
    # MPI's functions take buffers of any type, which gfortran has to be told.
    ! recipe_has fortran || fortran='--enable-fortran=all FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch'
    ! recipe_has c++ || cxx=--enable-cxx
    echo "--prefix=$prefix --with-device=$device"
    echo "--enable-shared --disable-static $fortran $cxx --enable-romio --enable-fast=O2"
    echo "--without-yaksa --with-datatype-engine=dataloop --with-hwloc=/usr --disable-opencl --disable-maintainer-mode"
    # Where ranks that wait spin, they yield now and then. MPICH takes it for broken on Linux, as it was long ago.
    [ "$device" = ch3:sock ] || echo "--enable-yield=sched_yield"
    # configure would take what pkg-config says of a static libfabric, with the libraries of five fabrics.
    [ "$device" != ch4:ofi ] || echo "--with-libfabric=/usr PKG_CONFIG_LIBDIR=$cache/none"
    # The library's name in Debian's packages; libtool makes the soname libmpich.so.12 of it.
    echo "MPILIBNAME=mpich"
}

# An installation counts as there when its record says that it was made in this way.
recipe_is_there() {
    [ "$(cat "$prefix/recipe" 2>/dev/null)" = "$(recipe_options)" ]
}
