# shellcheck shell=bash disable=SC2154
# A build in stages, each made once, so that the next call goes on where one was interrupted or failed. Sourced by the scripts that build
# a source package: `package` is its name, `work` the folder where it is built, `logs` that of the logs.

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
        echo "$package: another build is running, waiting for it"
        flock 9
    }
}

# Was it made as the script makes it? Its function `recipe` prints how, and `build` leaves that in $prefix/recipe.
is_made() {
    [ "$(cat "$prefix/recipe" 2>/dev/null)" = "$(recipe)" ]
}

# Builds it unless it is there. Standard output stays the script's own.
make_once() {
    is_made || lock >&2
    is_made || build >&2
}

# A build that was begun with other options is of no use.
prepare() { # OPTIONS
    if [ "$(cat "$work/recipe" 2>/dev/null)" != "$1" ]; then
        rm -rf "$work"
        mkdir -p "$work"
        echo "$1" >"$work/recipe"
    fi
    mkdir -p "$work/done" "$logs"
}

# What `build` is in these scripts: the packages, the source, the script's own stages, and how it was made. PACKAGES in one word.
build_in_stages() { # NAME SOURCE PACKAGES STAGE...
    local name
    echo "building $1 $version for $prefix (once, some minutes; logs in $logs)"
    prepare "$(recipe)"
    # shellcheck disable=SC2086
    stage packages "$here/../deps.sh" apt dpkg-dev gcc libc6-dev $3
    stages_source "$2"
    for name in "${@:4}"; do
        stage "${name%_tree}" "$name"
    done
    recipe >"$prefix/recipe"
    rm -rf "$work"
}

# The end of the script: where it is, and with `where` nothing more. The folder is named after NAME and VERSION.
print_made() { # NAME VERSION [where]
    prefix=$cache/$1-$2 work=$cache/build/$1-$version logs=$cache/log/$1-$version
    [ "${3:-}" = where ] || make_once
    echo "$prefix"
    exit
}

copy_source() { # FOLDER
    rm -rf "$work/source"
    cp -R "$1" "$work/source"
}

# The source package, in $work/source; or a copy of FOLDER, where that is not empty.
stages_source() { # [FOLDER]
    if [ -n "${1:-}" ]; then
        stage copy copy_source "$1"
        return
    fi
    if [ ! -e "$cache/source/${package}_$version.complete" ]; then
        stage index source_index
        stage download source_download
    fi
    stage unpack source_unpack "$work/source"
}
