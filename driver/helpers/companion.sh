#!/bin/bash
# companion: one-node Slurm jobs that lend their nodes to a malleable job (docs/reference/slurm.md).
#   companion range JOB MIN-MAX    the Slurm job that this is called in says so in its comment
#   companion queue JOB N RANKS    submits N of them for the EPOP job JOB, each to bring RANKS ranks
#   companion drop JOB             all of the EPOP job JOB, which is over, end, those that run and those that wait
#   companion lost NUMBER          nothing of the job runs there any more: it ends, if it is a companion of this Slurm job
#   companion lend JOB RANKS OF    what each does on its node, for the Slurm job OF
# From users: EPOP_COMPANION, more options for sbatch; EPOP_LEASE, the minutes of a lease (10); EPOP_PATIENCE, the seconds for which
# one asks a job that refuses it (60).
set -u
self=$(readlink -f "$0")
here=$(dirname "$self")
PATH=$here/../../bin:$PATH

say() { echo "epop: companion: $*" >&2; }

# Slurm takes the variables of the job that this is called in for options.
forget() {
    local name
    for name in "${!SLURM@}" "${!SBATCH@}" "${!PMI@}"; do [ "$name" = SLURM_CONF ] || unset "$name"; done
    unset COMPANION_STEP
}

# What Slurm has of one job, in one line. The number of an array is that of its last task, too: of it scontrol shows all tasks.
record() { scontrol -o show job "$1" 2>/dev/null | grep "^JobId=$1 "; }

# A word of what scontrol says in one line: field NAME TEXT
field() { sed -n "s/^\(.* \)\?$1=\([^ ]*\).*/\2/p" <<<"$2"; }

# The partition from which Slurm takes nodes back for others: of lower priority than this one's, and the highest of these.
preemptable() { # PARTITION
    local line tier name best='' most=-1 own
    scontrol show config | grep -q '^PreemptType *= preempt/partition_prio' || return 0
    own=$(field PriorityTier "$(scontrol -o show partition "$1")")
    while read -r line; do
        name=$(field PartitionName "$line") tier=$(field PriorityTier "$line")
        if [ "$(field PreemptMode "$line")" != OFF ] && [ "$(field State "$line")" = UP ] &&
            [ "$tier" -lt "$own" ] && [ "$tier" -gt "$most" ]; then
            best=$name most=$tier
        fi
    done < <(scontrol -o show partition)
    echo "$best"
}

# An update of an array's number is one of all its tasks. Words of the user stay in the comment.
range() { # MIN-MAX
    local known task word words=() id=$SLURM_JOB_ID
    known=$(record "$id") task=$(field ArrayTaskId "$known")
    [ -z "$task" ] || id=$(field ArrayJobId "$known")_$task
    while read -r word; do
        if [[ -n $word && $word != "(null)" && $word != epop:* ]]; then words+=("$word"); fi
    done < <(squeue -h -j "$id" -o %k | tr -s ' \t' '\n\n')
    scontrol update JobId="$id" Comment="${words[*]:+${words[*]} }epop:min=${1%-*},max=${1#*-}" || say "job $id cannot be told its range"
}

# Minutes of a time as Slurm writes it, D-HH:MM:SS; nothing where it is a word.
minutes() {
    [[ $1 =~ ^(([0-9]+)-)?([0-9]+):([0-9]+):[0-9]+$ ]] || return 0
    echo $((10#0${BASH_REMATCH[2]} * 1440 + 10#${BASH_REMATCH[3]} * 60 + 10#${BASH_REMATCH[4]}))
}

# Of these numbers, some of which may be missing.
least() { printf '%s\n' "$@" | grep . | sort -n | head -n 1; }

# The time limit of a companion: what its job has left, and its partition allows. Without one Slurm starts it before no job that
# waits for more nodes; with a least one, of a lease, it may choose what fits. Where nobody takes nodes back, the lease is all.
limits() { # KNOWN PARTITION LENDS
    local left most longest lease=${EPOP_LEASE:-10}
    left=$(minutes "$(field TimeLimit "$1")")
    [ -z "$left" ] || left=$((left - $(minutes "$(field RunTime "$1")")))
    [ -z "$left" ] || [ "$left" -gt 0 ] || left=1
    most=$(minutes "$(field MaxTime "$(scontrol -o show partition "$2")")")
    longest=$(least "$left" "$most") lease=$(least "$lease" "$left" "$most")
    if [ -z "$3" ]; then
        echo "--time=$lease"
    elif [[ " ${EPOP_COMPANION:-}" =~ [[:space:]](-t|--time) ]]; then
        echo "--time=${longest:-UNLIMITED}" # the user's own wins, and may be shorter than a lease
    else
        echo "--time=${longest:-UNLIMITED} --time-min=$lease"
    fi
}

queue() { # JOB N RANKS OF
    local options=(--parsable --nodes=1 --exclusive --job-name="epop-$4" --comment="epop companion of $4 for $1" --output=/dev/null)
    local known account own lower
    known=$(record "$4") || { say "Slurm does not know job $4"; exit 1; }
    own=$(field Partition "$known") lower=$(preemptable "$own") account=$(field Account "$known")
    [ "$account" = "(null)" ] || [ -z "$account" ] || options+=(--account="$account")
    options+=(--partition="${lower:-$own}")
    if [ -n "$lower" ]; then options+=(--requeue); else options+=(--no-requeue); fi
    # shellcheck disable=SC2207
    options+=($(limits "$known" "${lower:-$own}" "$lower"))
    forget
    # shellcheck disable=SC2086
    for _ in $(seq "$2"); do
        sbatch "${options[@]}" ${EPOP_COMPANION:-} --wrap "exec '$self' lend '$1' '$3' '$4'" || exit 1
    done
}

# By the comment, as the Slurm job may have another EPOP job by now (epop --recover). Also those that run: one whose node has
# died, and is back, does nothing any more. But for the one that this is called in, which ends by itself.
drop() { # JOB OF
    local number comment others=()
    command -v squeue >/dev/null || return 0
    while read -r number comment; do
        if [ "$comment" = "epop companion of $2 for $1" ] && [ "$number" != "${3:-}" ]; then others+=("$number"); fi
    done < <(squeue -h --name="epop-$2" --user="$(id -un)" -o '%A %k')
    [ ${#others[@]} = 0 ] || scancel --quiet "${others[@]}"
}

# ---- On the node of a companion ---------------------------------------------------------------------------------------

# Processes of the job run on this node, in this Slurm job: what the leash (lib/epop/step) gave them says so.
has_ranks() { grep -qsz "^EPOP_SLURM_JOB=$SLURM_JOB_ID\$" /proc/[0-9]*/environ; }
end_ranks() { grep -lsz "^EPOP_SLURM_JOB=$SLURM_JOB_ID\$" /proc/[0-9]*/environ | cut -d / -f 3 | xargs -r kill -KILL; }

# Ranks of the job are here: 0. 1: they have left, or the job is over. Its first node has not answered for a while: 1, too, and
# the ranks, which wait for ever and are deaf to SIGTERM, are ended.
is_there() {
    local text status
    for _ in 1 2 3; do
        has_ranks || return 1 # and a dead first node would never answer
        text=$(timeout 5 epopctl status "$job" --json 2>/dev/null)
        status=$?
        case $status in 0) grep -q "\"host\":[[:space:]]*\"$host\"" <<<"$text"; return ;; 3) return 1 ;; esac
        pause 1
    done
    [ -n "$gone" ] || end_ranks
    return 1
}

# The job's first node takes connections. Nothing is said on this one: rank 0's process grows with each epopctl that comes.
# Slurm sends SIGTERM twice, and timeout ends by it even where it is ignored: that is no answer.
answers() {
    local at status=143
    at=$(sed -n 's|.*tcp:\([0-9.]*\):\([0-9]*\).*|/dev/tcp/\1/\2|p' "$addresses/$job.json" 2>/dev/null | head -n 1)
    [ -n "$at" ] || return 1
    while [ $status = 143 ]; do
        timeout 5 bash -c ": <>$at" 2>/dev/null
        status=$?
    done
    return $status
}

# Seconds, or until SIGTERM.
pause() { [ -n "$gone" ] || read -r -t "$1" <>"$nothing"; }

# What was taken has happened, as soon as ranks run here: 0. 1: it is off, or waits no more. It may take as long as an iteration of the
# job does, so it is waited for as long as the job has it in hand.
comes_about() {
    local known one
    while [ -z "$gone" ]; do
        if known=$(timeout 5 epopctl status "$job" --json 2>/dev/null | tr -d ' \t\n'); then
            one=$(grep -o "{[^{}]*\"slurm_job\":${SLURM_JOB_ID}[^0-9][^{}]*" <<<"$known")
            [[ $one != *'"state":"running"'* ]] || return 0
            [[ $known =~ \"state\":\"(preparing|prepared|window)\" ]] || return 1
        else
            is_there || return 1 # the first node is dead
        fi
        pause 2
    done
}

# Asks until it has an answer: a job takes one growth at a time. 0; 1: no; 3: the job is over.
join() {
    local text status end=$((SECONDS + ${EPOP_PATIENCE:-60}))
    while [ -z "$gone" ]; do
        text=$(epopctl resize "$job" "+$ranks" --hosts "$host:$ranks" --slurm-job "$SLURM_JOB_ID" --wait --timeout 10 2>&1)
        status=$?
        if [[ $text == *"may still happen"* ]]; then
            comes_about && return 0
            text="the resize was called off"
        fi
        [[ $status == [14] ]] || break
        [[ $text == *pending* || $SECONDS -lt $end ]] || break
        pause 0.3
    done
    [ -n "$gone" ] || [ $status = 0 ] || [ $status = 3 ] ||
        epopctl note "$job" "companion $SLURM_JOB_ID gives $host back: ${text#epopctl: }" >/dev/null
    return "${status:-1}"
}

is_drained() { [[ $(sinfo -h -N -n "$host" -o %T 2>/dev/null) == *drain* ]]; }

# Until the ranks have left, for whatever reason, or are to leave, or the job is over: it says what happens.
lend() {
    local line status watcher quiet=0
    while [ -z "$gone" ] && is_there; do
        exec 4< <(exec epopctl watch "$job" --json 2>/dev/null)
        watcher=$!
        while [ -z "$gone" ]; do
            read -r -t 2 -u 4 line
            status=$?
            if [ $status -gt 128 ]; then # quiet, also when the first node is dead
                quiet=$((quiet + 1))
                [ $((quiet % 6)) != 0 ] || ! is_drained || gone=drained
                has_ranks || break
                [ $((quiet % 3)) != 0 ] || answers || break
            elif [ $status != 0 ] || { [[ $line == *'"committed"'* || $line == *'"vacated"'* ]] && ! is_there; }; then
                break
            fi
        done
        exec 4<&-
        kill -KILL "$watcher" 2>/dev/null # nothing tells it that the first node is dead
    done
}

# Preempted, at the end of its lease, or of a node that is drained: another one, behind those that wait. Not by requeueing, after which Slurm holds a
# job for two minutes; where the site has it requeue what is preempted, Slurm has done so by now.
return_later() {
    local known state why
    known=$(record "$SLURM_JOB_ID") || return
    epopctl status "$job" >/dev/null 2>&1 || return
    state=$(field JobState "$known") why=$(field Reason "$known")
    if [ "$gone" = drained ] || [ "$why" = TimeLimit ] || { [ "$state" = RUNNING ] && [[ $(field PreemptTime "$known") == [0-9]* ]]; }; then
        (queue "$job" 1 "$ranks" "$of") >/dev/null # it forgets this Slurm job, and may fail
    fi
}

on_node() {
    # Slurm sends SIGTERM to steps, not to a batch script.
    if [ -z "${COMPANION_STEP:-}" ]; then
        export COMPANION_STEP=yes
        exec srun --overlap --nodes=1 --ntasks=1 --quiet "$self" lend "$job" "$ranks" "$of"
    fi
    gone='' host=$(hostname -s) nothing=$(mktemp -u)
    addresses=${EPOP_RUNTIME_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/epop/run}
    mkfifo "$nothing"
    trap 'rm -f "$nothing"' EXIT
    trap 'gone=asked' TERM
    if join || [ -n "$gone" ]; then lend; fi
    trap '' TERM
    if [ -n "$gone" ] && answers; then # Slurm grants little time: none of it for a job that is dead
        epopctl resize "$job" --release "$host" --wait=vacated --timeout 30 >/dev/null 2>&1 &
        # The job has room for another one when this one has left; but it is queued while there is time.
        for _ in {1..20}; do kill -0 $! 2>/dev/null && sleep 1; done
        return_later
        wait
    fi
    answers || drop "$job" "$of" "$SLURM_JOB_ID" # it may have been killed, and nobody else does so
}

case ${1:-} in
range) range "$3" ;;
queue) queue "$2" "$3" "$4" "${5:-$SLURM_JOB_ID}" ;;
drop) drop "$2" "$SLURM_JOB_ID" ;;
lost) scancel --quiet --name="epop-$SLURM_JOB_ID" "$2" ;;
lend) job=$2 ranks=$3 of=$4; on_node ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$self" >&2; exit 2 ;;
esac
