#!/usr/bin/env bash
# Usage: web/modules.sh [FOLDER NAME]. Prints the folder with the npm packages of the package-lock.json of this folder, or
# of that one, fetched once: they are kept beside other things that EPOP fetches, below $EPOP_CACHE, by the lock file's
# contents. What goes wrong is one line.
set -eu
here=$(cd "${1:-$(dirname "$0")}" && pwd)
name=${2:-report}
cache=${EPOP_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set EPOP_CACHE to a directory for downloads}/.cache}/epop}
place=$cache/$name-$(cat "$here"/package*.json | sha256sum | cut -c 1-16)

fail() {
    echo "epop-$name: $1$([ "$name" != report ] || echo '; make REPORT=no builds the rest')" >&2
    exit 1
}

if [ ! -e "$place/node_modules" ]; then
    command -v node >/dev/null || fail "there is no node (make deps installs it)"
    command -v npm >/dev/null || fail "there is no npm (make deps installs it)"
    mkdir -p "$cache" || fail "EPOP_CACHE can name another directory for downloads"
    [ -w "${HOME:-/}" ] || export npm_config_cache="${npm_config_cache:-$cache/npm}"
    work=$(mktemp -d "$cache/$name-fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    cp "$here/package.json" "$here/package-lock.json" "$work"
    log=$cache/$name-fetch.log
    (cd "$work" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund >"$log" 2>&1) ||
        fail "npm ci could not fetch its libraries ($log)"
    # Another build may have been faster: then its folder is as good.
    mv -T "$work" "$place" 2>/dev/null || [ -e "$place/node_modules" ] || fail "cannot write to $cache"
fi
echo "$place/node_modules"
