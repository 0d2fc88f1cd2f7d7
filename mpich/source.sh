# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# The source package, by apt from the same archives as the system's packages, which checks their signatures.
# Sourced by the scripts that build one: `package` is its name, `version` the upstream version. apt's configuration and
# its lists stay as they are: everything goes below the cache.

# The system's package sources once more, asked for sources.
source_lists() {
    local list parts file
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "$list" "$parts"/*.list; do
        [ ! -f "$file" ] || sed -n -E 's/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$file" >>"$1/system.list"
    done
    for file in "$parts"/*.sources; do
        [ ! -f "$file" ] || sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$1/${file##*/}"
    done
}

# apt TOOL ARGUMENTS...: with the private index.
source_apt() {
    local tool=$1 apt=$cache/apt
    shift
    "$tool" -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$apt/sources" \
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
        -o Acquire::AllowInsecureRepositories=false -o APT::Get::AllowUnauthenticated=false \
        -o APT::Sandbox::User=root "$@"
}

# The upstream version that apt would install of a package.
source_version() { # PACKAGE
    apt-cache show --no-all-versions "$1" 2>/dev/null | sed -n 's/^Version: \([0-9]*:\)\{0,1\}\([^-]*\)-.*$/\2/p'
}

# The newest revision of the package with this upstream version.
source_revision() {
    source_apt apt-cache showsrc "$package" | awk -v wanted="$version" '/^Version: / {
        upstream = $2
        sub(/^[0-9]+:/, "", upstream)
        sub(/-[^-]*$/, "", upstream)
        if (upstream == wanted) print $2 }' | sort -V | tail -n 1
}

source_index() {
    rm -rf "$cache/apt"
    mkdir -p "$cache/apt/sources" "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial"
    source_lists "$cache/apt/sources"
    # An archive that has no sources is no failure as long as another has them.
    source_apt apt-get update || echo "not every archive gave an index"
    [ -n "$(source_revision)" ]
}

source_download() {
    local revision
    revision=$(source_revision)
    mkdir -p "$cache/source"
    cd "$cache/source"
    source_apt apt-get source --download-only "$package=$revision"
    echo "$revision" >"${package}_$version.complete"
    rm -rf "$cache/apt"
}

# Unpacks into the directory $1, all or nothing. The test suite is left out, its configure takes long.
source_unpack() {
    local revision
    revision=$(cat "$cache/source/${package}_$version.complete")
    rm -rf "$1" "$1.part"
    # apt has checked what it fetched; dpkg-source would ask for the uploader's key.
    dpkg-source --no-check -x "$cache/source/${package}_${revision#*:}.dsc" "$1.part"
    rm -rf "$1.part/test/mpi"
    mv "$1.part" "$1"
}
