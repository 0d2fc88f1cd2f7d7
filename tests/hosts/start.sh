#!/bin/bash
# Hydra's launcher for the hosts of tests/run/helpers/hosts.py, called as ssh would be: [-OPTION...] HOST WORD... Like ssh it
# starts in another directory, under other limits, with nothing of the caller's environment but the mark that the tests
# find processes by, and none of the caller's descriptors: a proxy that has mpiexec's own listening socket would connect to
# that, and wait for ever, where mpiexec has died.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
read -r pid <"$EPOP_TEST_HOSTS/$host" || {
    echo "start.sh: host $host is not known" >&2
    exit 255
}
for fd in /proc/self/fd/*; do
    case ${fd##*/} in
    [012] | 255) ;; # 255: this script, which bash closes itself
    *) eval "exec ${fd##*/}>&-" ;;
    esac
done
ulimit -Sn 300
ulimit -Sc 0
exec env -i PATH="$PATH" EPOP_TEST_SPACE="$EPOP_TEST_SPACE" nsenter -t "$pid" -n -u -m -T sh -c "cd / && $*"
