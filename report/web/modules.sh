#!/usr/bin/env bash
# Usage: web/modules.sh. Prints the folder with the npm packages of package-lock.json, fetched once: they are kept beside
# other things that EPOP fetches, below $EPOP_CACHE, by the lock file's contents. What goes wrong is one line.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${EPOP_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set EPOP_CACHE to a directory for downloads}/.cache}/epop}
place=$cache/report-$(cat "$here"/package*.json | sha256sum | cut -c 1-16)

fail() {
    echo "epop-report: $1; make REPORT=no builds the rest" >&2
    exit 1
}

if [ ! -e "$place/node_modules" ]; then
    command -v node >/dev/null || fail "there is no node, which bundles the charts (make deps installs it)"
    command -v npm >/dev/null || fail "there is no npm, which fetches the charts' library (make deps installs it)"
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/report-fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    cp "$here/package.json" "$here/package-lock.json" "$work"
    log=$cache/report-fetch.log
    (cd "$work" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund >"$log" 2>&1) ||
        fail "npm ci could not fetch the charts' library ($log)"
    # Another build may have been faster: then its folder is as good.
    mv -T "$work" "$place" 2>/dev/null || [ -e "$place/node_modules" ] || fail "cannot write to $cache"
fi
echo "$place/node_modules"
