#!/usr/bin/env bash
# Usage: packaging/deb.sh [FOLDER]. Makes Debian packages of the last commit (epop, libepop-dev, python3-epop, epop-doc) and puts them into FOLDER
# (build/deb), by what packaging/debian/ says. Its Build-Depends have to be installed: apt-get build-dep ./packaging, or mk-build-deps.
set -eu
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/deb}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/epop"
git -c safe.directory='*' archive HEAD | tar -x -C "$work/epop"
cp -R "$work/epop/packaging/debian" "$work/epop/debian"
cd "$work/epop"
sed -i "1s/([^)]*)/($(sed -n 's/^VERSION *:= *//p' Makefile))/" debian/changelog
dpkg-buildpackage -us -uc -b >"$work/log" 2>&1 || {
    tail -n 30 "$work/log" >&2
    exit 1
}
mkdir -p "$folder"
cp "$work"/*.deb "$folder"
ls "$folder"/*.deb
