"""Policies in Python for epopsim, epoprm and Slurm's adviser: `--policy ./mine.py,least=2`, where mine.py is an executable file.

    #!/usr/bin/python3
    '''Starts what fits, in the order of the queue.'''
    import epop_policy

    def decide(state, plan, *, least=1):
        for job in state.waiting:
            if least <= job.wanted <= plan.idle:
                plan.start(job, job.wanted, f"{job.wanted} of {plan.idle} nodes are idle")

    epop_policy.run(decide)

A state has the members of epop_policy_state_t in <epop/policy.h>, jobs those of epop_policy_job_t, and so on; kinds and states are words, as
"malleable", "waits", "idle". The same state must give the same plan: no clock, no file, no random number, nothing kept between calls.
docs/reference/policies.md has an example.
"""

import bisect
import inspect
import json
import math
import os
import pathlib
import sys
import types

__all__ = ["Plan", "Range", "State", "run"]

VERSION = 3  # EPOP_POLICY_ABI_VERSION


class State(types.SimpleNamespace):
    """The state of the machine, or a job, a phase, a sample, or a node of it."""


class Range:
    """Numbers of nodes that a job or a phase accepts: `sizes`, ascending, or, if that is empty, all from `min` to `max`."""

    def __init__(self, min, max, sizes=()):
        self.min, self.max, self.sizes = min, max, sizes

    def fit(self, nodes):
        """The largest accepted size up to `nodes`, or 0 if there is none."""
        if self.sizes:
            at = bisect.bisect_right(self.sizes, nodes)
            return self.sizes[at - 1] if at else 0
        return min(nodes, self.max) if nodes >= self.min else 0

    def __contains__(self, nodes):
        return nodes > 0 and self.fit(nodes) == nodes

    def __repr__(self):
        return f"Range({self.min}, {self.max}, {self.sizes})"


class Plan:
    """What is to happen now, with at most one decision on each job. A decision that is not possible makes the whole plan invalid: who runs the
    policy says so. `reason` is a line for users with the figures that decided."""

    def __init__(self, idle):
        self.idle = idle  # nodes that are still idle after this plan
        self._calls, self._wake = [], math.inf

    def _add(self, what, job, nodes, reason, **more):
        self._calls.append({"do": what, "job": job.id, "nodes": int(nodes), "reason": str(reason), **more})

    def start(self, job, nodes, reason):
        """Starts a waiting job now, on idle nodes."""
        self._add("start", job, nodes, reason)
        self.idle -= nodes

    def resize(self, job, nodes, reason):
        """Resizes a running job, which does not adapt, and is in an elastic phase that accepts the size. It grows onto idle nodes; what it gives
        back is idle when the resize has committed, and not in this plan."""
        self._add("resize", job, nodes, reason)
        self.idle -= max(0, nodes - job.nodes)

    def move(self, job, reason):
        """Moves a running job that has a `moved` to nodes below fewer leaf switches: it grows to moved.nodes now, and shrinks to what it has
        before the policy is asked again."""
        self._calls.append({"do": "move", "job": job.id, "reason": str(reason)})
        self.idle -= job.moved.nodes - job.nodes

    def reserve(self, job, nodes, time, reason):
        """Promises a waiting job a start at `time`, until the next plan."""
        self._add("reserve", job, nodes, reason, time=float(time))

    def wake(self, time):
        """Asks for another call at `time`, if nothing happens before; the earliest time counts."""
        self._wake = min(self._wake, time)

    def _answer(self):
        return {"plan": self._calls, **({"wake": self._wake} if self._wake < math.inf else {})}


def _made(members):
    """Of an object of JSON."""
    if "range" in members:
        members["range"] = Range(**members["range"])
    return members if members.keys() <= {"min", "max", "sizes"} else State(**members)


class _Policy:
    def __init__(self, decide, help, follows_easy):
        self.decide, self.help, self.follows_easy = decide, help, follows_easy
        self.options = {name: parameter.default for name, parameter in inspect.signature(decide).parameters.items()
                        if parameter.kind == parameter.KEYWORD_ONLY}
        self.settings = {}

    def open(self, question):
        script = sys.modules["__main__"]
        if question.version != VERSION:
            sys.exit(f"epop_policy has version {VERSION} of the policy interface, and who asks has version {question.version}: use the "
                     "package of the same release")
        return {"version": VERSION, "name": pathlib.Path(script.__file__).stem, "summary": inspect.cleandoc(script.__doc__ or "").split("\n")[0],
                "options": [{"name": name, "value": str(value), "help": self.help.get(name, "")} for name, value in self.options.items()],
                "follows_easy": self.follows_easy}

    def option(self, question):
        default = self.options[question.name]
        try:
            self.settings[question.name] = _BOOLEANS[question.value] if isinstance(default, bool) else type(default)(question.value)
        except (KeyError, ValueError):
            return {"taken": False}
        return {"taken": True}

    def plan(self, question):
        plan = Plan(question.state.idle)
        self.decide(question.state, plan, **self.settings)
        return plan._answer()


_BOOLEANS = {"yes": True, "1": True, "no": False, "0": False}


def run(decide, help={}, follows_easy=False):
    """Answers until who asks has ended. `decide(state, plan)` fills the plan; its keyword-only parameters are the policy's options, with their
    defaults and of the same types, and `help` has a line on each. follows_easy: the state is to have what EASY backfilling would do."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the policy prints is no answer
    policy = _Policy(decide, help, follows_easy)
    calls = {"open": policy.open, "option": policy.option, "decide": policy.plan}
    for line in sys.stdin:
        question = json.loads(line, object_hook=_made)
        json.dump(calls[question.op](question), answers)
        answers.write("\n")
        answers.flush()
