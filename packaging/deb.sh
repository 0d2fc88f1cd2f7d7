#!/usr/bin/env bash
# Usage: packaging/deb.sh [FOLDER]. Makes Debian packages of the last commit (epop, libepop-dev, epop-doc) in FOLDER (build/deb), with
# what packaging/debian/ says. Its Build-Depends have to be installed: apt-get build-dep ./packaging, or mk-build-deps.
set -eu
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/deb}")
rm -rf "$folder"
mkdir -p "$folder/epop"
git -c safe.directory='*' archive HEAD | tar -x -C "$folder/epop"
cp -R "$folder/epop/packaging/debian" "$folder/epop/debian"
cd "$folder/epop"
dpkg-buildpackage -us -uc -b >"$folder/log" 2>&1 || {
    tail -n 30 "$folder/log" >&2
    exit 1
}
rm -rf "$folder/epop"
ls "$folder"/*.deb
