#!/bin/sh
# Usage: deps.sh PACKAGE... Installs those of these Debian packages that are missing, as root or through sudo. Where that
# cannot be, one line says what to install. Called by make, and by mpich/build.sh.
set -eu

missing=
for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

fail() {
    echo "epop: $1; install these packages, or what they are called here:$missing" >&2
    exit 1
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
