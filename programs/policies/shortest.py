#!/usr/bin/python3
"""Shortest job first; if it does not fit, malleable jobs shrink to let it start."""
import epop_policy


def smaller(job, missing):
    """The size that it can shrink to now, `missing` nodes below its present one or as near as it can; else the present one."""
    nodes = job.range.fit(max(job.range.min, job.nodes - missing))
    if job.kind not in ("malleable", "evolving") or job.state != "runs":
        return job.nodes
    if job.phases and not (job.phases[0].elastic and nodes in job.phases[0].range):
        return job.nodes
    return nodes


def make_room(state, plan, next, missing):
    """Those that have run longest give first. What they give comes when their resizes have committed."""
    for job in state.running:
        nodes = smaller(job, missing)
        if missing > 0 and nodes < job.nodes:
            plan.resize(job, nodes, f"{missing} nodes are missing for job {next.id}, the shortest")
            missing -= job.nodes - nodes


def decide(state, plan):
    for job in sorted(state.waiting, key=lambda job: (job.limit, job.id)):
        if job.wanted > len(state.nodes) - state.down:
            continue  # until nodes are up again
        if job.wanted > plan.idle:
            make_room(state, plan, job, job.wanted - plan.idle - state.coming)
            break
        plan.start(job, job.wanted, f"the shortest: {job.limit:.0f} s, {job.wanted} of {plan.idle} idle nodes")


epop_policy.run(decide)
