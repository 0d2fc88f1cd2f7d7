"""What travels, against its table (runtime/wire/messages.def): the schema, the page and the help of epopctl say the same,
and a job refuses what does not fit a row, with the member's name, and goes on."""

import json
import re
import subprocess

import job
import pytest
import messages
from scenario import Scenario
from wire import Client

EXAMPLES = job.ROOT / "schema/examples/control"

# Which member the refusal of each names.
NAMED = {
    "request-balance-size": '"size"',
    "request-break-nowhere": "'at'",
    "request-break-number": "'at'",
    "request-checkpoint-path": '"path"',
    "request-checkpoint-wait": "'wait'",
    "request-measure-keep-negative": "'keep'",
    "request-measure-rank": '"rank"',
    "request-no-op": '"op"',
    "request-op-number": '"op"',
    "request-psets-about-nothing": "'about'",
    "request-psets-op-grow": "'type'",
    "request-psets-sched-name": "'sched'",
    "request-psets-sched-number": "'sched'",
    "request-resize-both": "'delta'",
    "request-resize-delta-overflow": "'delta'",
    "request-resize-fraction": "'size'",
    "request-resize-hosts-empty": "'add_hosts'",
    "request-resize-hosts-option": "'add_hosts'",
    "request-resize-hosts-space": "'add_hosts'",
    "request-resize-nothing": " size ",
    "request-resize-pset-empty": "'pset'",
    "request-resize-rank-negative": "'release_ranks'",
    "request-resize-rank-twice": "'release_ranks'",
    "request-resize-scheduler-false": "'scheduler'",
    "request-resize-size-overflow": "'size'",
    "request-resize-slurm-job-of-nothing": "'add_hosts'",
    "request-resize-slurm-job-zero": "'slurm_job'",
    "request-resize-slurm-jobs-list": "'slurm_jobs'",
    "request-resize-slurm-jobs-text": "'slurm_jobs'",
    "request-resize-text": "'size'",
    "request-resize-unknown": '"sizes"',
    "request-resize-wait-word": "'wait'",
    "request-status-with-size": '"size"',
    "request-step-size": '"size"',
    "request-stop-force-text": "'force'",
    "request-note-nothing": " text ",
    "request-stop-wait": '"wait"',
    "request-unknown-op": '"op"',
    "request-where-with-rank": '"rank"',
}
OF_THE_WIRE = ["request-pause-id-negative"]  # a client has its own number in that place

# Valid by their rows, but not for this job: found by attack.
OUT_OF_PLACE = [
    ({"op": "resize", "delta": 2147483647}, "2147483648 ranks are more than"),
    ({"op": "resize", "delta": -2147483647}, "-2147483646 ranks make no world"),
    ({"op": "resize", "delta": 2147483647, "pset": "mpi://WORLD"}, "processes are no process set"),
    ({"op": "psets", "about": "op", "type": 7, "a": "mpi://WORLD", "b": "mpi://WORLD", "target": "mpi://WORLD"},
     "mpi://WORLD is the runtime's"),
    ({"op": "psets", "about": "op", "type": 0, "target": "mpi://WORLD", "active": False}, "mpi://WORLD is the runtime's"),
    ({"op": "psets", "about": "op", "type": 7}, "no process set is named"),
]


def test_the_schema_is_that_of_the_table():
    """Names, kinds, ranges, words, what has to be there: tests/run/helpers/messages.py writes it anew."""
    assert json.loads(messages.SCHEMA.read_text()) == json.loads(messages.schema_text())


def test_the_page_is_that_of_the_table():
    assert messages.PAGE.read_text() == messages.page_text()


def test_a_command_is_helped_as_its_request():
    helped = {row["name"]: row["help"] for row in messages.rows() if row["kind"] == "request"}
    out = subprocess.run([job.BUILD / "bin/epopctl", "--help"], capture_output=True, text=True, timeout=20).stdout
    for name, text in helped.items():
        assert f"  {name:<10}  {text}\n" in out


def test_all_invalid_requests_are_sent():
    assert sorted(path.stem for path in (EXAMPLES / "invalid").glob("request-*.json")) == sorted([*NAMED, *OF_THE_WIRE])


def test_no_request_has_the_name_of_a_message():
    named = {kind: {row["name"] for row in messages.rows() if row["kind"] == kind} for kind in messages.KINDS}
    assert not named["request"] & (named["report"] | named["order"])


def test_every_row_is_sent_by_its_name_and_taken():
    """No other text stands where the name of a message is wanted, and every row has who says it and who takes it."""
    text = "".join(path.read_text() for path in sorted((job.ROOT / "runtime").rglob("*.c")))
    assert re.findall(r'json_message\("|strcmp\(op, "', text) == []
    for row in messages.rows():
        if row["kind"] in ("report", "order"):
            name = row["name"]
            assert re.search(rf"(json_message|tell_text)\b.*{row['kind'].upper()}\({name}\)", text), row
            assert re.search(rf"\b{row['kind']}_{name}_id\b", text), row


@pytest.mark.parametrize("name, named", [({"least": 1, "most": 2147483647}, "integer from 1"), ({}, "integer")])
def test_ranges_in_words(name, named):
    assert messages.words_for({"what": "int", **name}) == named


def test_a_job_refuses_what_does_not_fit(space):
    """One line, the member's name, and nothing has changed."""
    it = Scenario(space, start=1, ranks=2)
    client = Client(it)
    before = client.ask(op="psets", about="all")
    for name, named in NAMED.items():
        answer = client.ask(**json.loads((EXAMPLES / f"invalid/{name}.json").read_text()))
        assert answer["ok"] is False and answer["code"] == "refused", (name, answer)
        assert named in answer["reason"] and "\n" not in answer["reason"], (name, answer)
    for request, reason in OUT_OF_PLACE:
        answer = client.ask(**request)
        assert answer["ok"] is False and reason in answer["reason"], (request, answer)
    assert client.ask(op="psets", about="all") == before
    assert client.ask(op="status", id=5)["job"]["size"] == 1
    client.it.stdin.close()
    assert client.it.wait().status == 0
    it.resize(2)
    it.stop(ranks=2, windows=1)
