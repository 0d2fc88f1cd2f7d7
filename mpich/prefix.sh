#!/usr/bin/env bash
# Usage: mpich/prefix.sh [DEVICE]. Prints where the MPICH for this device is, or would be, installed.
set -eu
. "$(dirname "$0")/recipe.sh"
recipe_choose "${1:-ch3:sock}"
echo "$prefix"
