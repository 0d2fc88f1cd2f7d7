"""What must hold when all has ended, whatever happened to jobs and daemons meanwhile: read from the accounts of the site alone,
epoprm's journal or Slurm's own. Each function gives a list of lines, one for each that does not hold."""

import sqlite3

ENDED = ("done", "failed", "cancelled")
STEPS = ("decided", "asked", "prepared", "agreed", "committed", "settled")


def overlaps(uses, tolerance=0.0):
    """uses: (node, begin, end, job). A node that two jobs had at one time."""
    found, last = [], {}
    for node, begin, end, job in sorted(uses, key=lambda use: (use[0], use[1], use[2])):
        until, other = last.get(node, (begin, job))
        if other != job and begin < until - tolerance:
            found.append(f"node {node} has jobs {other} and {job} from {begin:.3f} to {min(end, until):.3f}")
        if end >= until:
            last[node] = (end, job)
    return found


# ---- epoprm

def of_journal(path, hit=(), known=None):
    """hit: jobs to which something was done. They may end in any way, but they end. known: numbers that were given out."""
    journal = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    journal.row_factory = sqlite3.Row
    try:
        return [*_sound(journal), *_jobs(journal, hit, known), *_nodes(journal), *_stays(journal), *_resizes(journal)]
    finally:
        journal.close()


def _sound(journal):
    return [f"journal: {row[0]}" for row in journal.execute("PRAGMA integrity_check") if row[0] != "ok"]


def _jobs(journal, hit, known):
    rows = {row["number"]: row for row in journal.execute("SELECT * FROM job")}
    for number in set(known or rows) - set(rows):
        yield f"job {number} was submitted, and is not there"
    for number, row in rows.items():
        if row["state"] not in ENDED:
            yield f"job {number} is {row['state']}, and nothing goes on"
        elif row["state"] != "done" and number not in hit:
            yield f"job {number} is {row['state']} ({row['reason']}), and nothing was done to it"
        elif row["state"] == "done" and row["status"] != 0:
            yield f"job {number} is done with status {row['status']}"
        if row["state"] in ENDED and (row["ended"] < row["submitted"] or 0 <= row["ended"] < row["started"]):
            yield f"job {number} ended at {row['ended']}, before it began"


def _nodes(journal):
    for row in journal.execute("SELECT * FROM holding"):
        yield f"node {row['node']} is held by job {row['job']}"
    for row in journal.execute("SELECT * FROM node WHERE state != 'up'"):
        yield f"node {row['name']} is {row['state']}: {row['reason']}"


def _stays(journal):
    rows = [dict(row) for row in journal.execute("SELECT * FROM stay")]
    for row in rows:
        if row["end"] < 0:
            yield f"job {row['job']} computes on {row['nodes']} for ever"
    yield from overlaps([(node, row["begin"], row["end"], row["job"]) for row in rows if row["end"] >= 0
                         for node in row["nodes"].split(",")])


def _resizes(journal):
    for row in journal.execute("SELECT * FROM resize"):
        times = [row[step] for step in STEPS if row[step] >= 0]
        if not row["outcome"]:
            yield f"resize {row['id']} of job {row['job']} is {STEPS[row['step']]}, and nothing goes on"
        if times != sorted(times):
            yield f"resize {row['id']} of job {row['job']}: its steps are not in their order: {times}"
        if row["outcome"] == "done" and (row["committed"] < 0 or row["settled"] < 0):
            yield f"resize {row['id']} of job {row['job']} is done, and was never settled"


# ---- Slurm

OPEN = ("RUNNING", "PENDING", "SUSPENDED")


def closed_by(records, accounts):
    """A slurmctld that is killed loses what it had not yet told slurmdbd, and rows stay open for ever, as `sacctmgr show runawayjobs`
    says. records: what slurmctld says of all jobs that it knows, rows as of accounts: (job, state, begin, end, nodes, submitted). An
    open row of a job that it knows is taken from there; one of a job that it was made to forget is left out. The rows; jobs of both."""
    of_ctld = {(row[0], row[5]): row for row in records}
    rows, closed, runaway = [], [], []
    for row in accounts:
        known = of_ctld.get((row[0], row[5]))
        if row[1] not in OPEN:
            rows.append(row)
        elif known:
            rows.append(known)
            closed.append(row[0])
        else:
            runaway.append(row[0])
    present = {(row[0], row[5]) for row in accounts}
    for key, row in of_ctld.items():
        if key not in present:
            rows.append(row)
            closed.append(row[0])
    return rows, closed, runaway


def of_slurm(accounts, nodes, queue, hit=(), known=None, behind=()):
    """accounts: rows of sacct (job, state, begin, end, nodes), times in whole seconds; nodes: {name: state} of sinfo; queue: numbers
    in squeue that have not ended; hit, known: numbers of jobs that were submitted by a user (not companions). behind: jobs that had ended,
    and that a slurmctld which was killed took to run again: their end in the accounts is not the one that they had."""
    found = [f"job {number} is in the queue" for number in queue]
    found += [f"node {name} is {state}" for name, state in nodes.items() if state != "idle"]
    states = {}
    for job, state, *_ in accounts:
        states[job] = state
    for number in known or ():
        state = states.get(number, "not in the accounts")
        if state != "COMPLETED" and number not in hit:
            found.append(f"job {number} is {state}, and nothing was done to it")
    for job, state, begin, end, _ in accounts:
        if state in OPEN:
            found.append(f"job {job} is {state} in the accounts, and nothing goes on")
    uses = [(node, begin, end, job) for job, _, begin, end, where in accounts if begin and end and job not in behind for node in where]
    return found + overlaps(uses, tolerance=1.0)
