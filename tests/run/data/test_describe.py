"""Described data: moved by the library in every kind of window, refused where ranks do not describe the same, and freed
with each process that leaves. The program looks at every element in every iteration itself."""

import json
import re

import executables
import job
import joining
import pytest
from scenario import assert_named
from schemas import validate

DESCRIBED = job.test_program("described")


def run(space, *arguments, start=2, ranks=4, options=()):
    return space.epop("--start", str(start), *options, DESCRIBED, *arguments, ranks=ranks, limit=90)


def releases(result):
    return sorted(re.findall(r"^release: (\w+) (\w+)$", result.err, flags=re.M))


def go_through(space, *arguments, end, left, start=2, ranks=4, options=()):
    """Up and down; each process that was in the program released its data once, and nothing was left in it."""
    result = run(space, *arguments, start=start, ranks=ranks, options=options)
    assert result.status == 0 and result.out == f"end: {end} ranks, right\n", result
    said = releases(result)
    assert len(said) == left + end and {what for _, what in said} == {"empty"}, result
    assert sum(status == "leaving" for status, _ in said) == left, result


@pytest.mark.parametrize("options", [(), ("--driver", "debug")], ids=["run", "debug"])
@pytest.mark.parametrize("own", [(), ("own",)], ids=["described", "own"])
def test_up_and_down(space, own, options):
    go_through(space, "resize=4,1,3,2", *own, end=2, left=4, options=options)


def test_more_ranks_than_data(space):
    go_through(space, "n=1", "resize=4,2,3", end=3, left=2)


def test_no_data(space):
    go_through(space, "n=0", "resize=3,1", end=1, left=2)


def test_migrations(space):
    go_through(space, "resize=3,2,3", "leaves=1", start=3, end=3, left=3)


@joining.needed
@pytest.mark.parametrize("backend", ["join", "spawn"])
def test_processes_that_come_and_go(space, backend):
    go_through(space, "resize=3,1,2", start=1, ranks=1, end=2, left=2, options=("--backend", backend))


def test_a_branch_ends_the_program(space):
    result = run(space, "end", ranks=2)
    assert result.status == 0 and result.out == "", result
    assert releases(result) == [("new", "empty")] * 2, result


# ---- What is wrong

LINES = {
    "differs": "epop_redist_described: described array 'u': the count is 97 on rank 0 and 98 on rank {rank}; it must be the same on all",
    "type": "epop_redist_described: described array 'u': the size of the datatype is 8 on rank 0 and 4 on rank {rank}; it must be the same on all",
    "order": "epop_redist_described: entry 2 is array 'u' on rank 0 and array 'k' on rank {rank}; all ranks describe the same in the same order",
}
FORM = {
    "twice": "rank {rank}: described 'u': the name is described twice",
    "name": "rank {rank}: described 'a/b': a name has no '/' and no control characters",
    "null": "rank {rank}: described 'k': the address of its pointer is NULL",
}
LAST = {"size": "described values 'shape': the number of bytes is 48 on rank 0 and 40 on rank 1; it must be the same on all"}
JOINING = {"size": "rank 2: described 'shape': 40 bytes of values here, 48 where they come from"}


def refused(space, fault, where, line, *more):
    result = run(space, "resize=3", f"fault={fault}", f"where={where}", *more, ranks=3)
    assert result.status != 0 and result.out == "", result
    assert len([text for text in result.err.splitlines() if line in text]) == 1, result
    assert re.search(r"element 1 'work' \(EP\), iteration \d+, rank \d of \d: its adapt block returned 201 ", result.err), result


@pytest.mark.parametrize("fault", [*LINES, *LAST])
def test_the_last_old_rank_describes_something_else(space, fault):
    refused(space, fault, "last", {**LINES, **LAST}[fault].format(rank=1))


@pytest.mark.parametrize("fault", FORM)
def test_a_rank_describes_something_in_a_wrong_form(space, fault):
    """Which ends the job at its start: test_mistakes.py."""
    result = run(space, f"fault={fault}", "where=last", ranks=3)
    assert result.status == 1 and result.out == "" and "element 0 'start' (INIT)" in result.err, result
    assert FORM[fault].format(rank=1) in result.err, result


@pytest.mark.parametrize("fault", ["differs", "order", "twice", *JOINING])
def test_a_joining_rank_describes_something_else(space, fault):
    """In a window that is the program's own; else the resize is refused: test_mistakes.py."""
    refused(space, fault, "joining", {**LINES, **FORM, **JOINING}[fault].format(rank=2), "own")


def test_a_rebuild_that_fails(space):
    result = run(space, "resize=3", "fault=rebuild", "where=joining", ranks=3)
    assert result.status != 0 and "epop: the rebuild block returned 77 on rank 0\n" in result.err, result
    assert "its adapt block returned 77" in result.err, result


# ---- What the debug driver finds


SAID = {"fewer": "described array 'u': 97 elements before the window, 96 behind it",
        "misplaced": "described array 'u': elements were changed or misplaced in the window: 97 before it with the checksum "}


@pytest.mark.parametrize("fault", SAID)
def test_a_block_that_lists_something_else_behind_the_move(space, fault):
    result = space.epop("--driver", "debug", "--start", "2", DESCRIBED, "resize=3", f"fault={fault}", ranks=3, limit=90)
    assert_named(result, "described: element 1 'work' (EP), iteration ", "rank 0 of 2: " + SAID[fault])


def test_elements_that_do_not_arrive(space):
    """A message is changed on its way: the line has the array's name."""
    fault = {"LD_PRELOAD": job.test_program("preload_fault"), "EPOP_TEST_FAULT": "redistribution"}
    result = space.epop("--driver", "debug", "--start", "2", DESCRIBED, "resize=3", ranks=3, limit=90, env=fault)
    assert_named(result, "described: element 1 'work' (EP), iteration ", "rank 0 of 2: described 'u': epop_redist_between lost, "
                 "doubled or changed elements: 97 before it")


@pytest.mark.parametrize("resize", [(), ("resize=3",)], ids=["the end", "a window"])
@pytest.mark.parametrize("fault,what", [("constant", "array 'k'"), ("copy", "replicated 'table'")])
def test_a_constant_array_that_is_written_to(space, resize, fault, what):
    result = space.epop("--driver", "debug", "--start", "2", DESCRIBED, f"fault={fault}", *resize, ranks=3, limit=90)
    assert_named(result, "described: element 1 'work' (EP), iteration ", f"rank 1 of 2: described {what} is EPOP_CONSTANT, but this "
                 "rank has changed it while the phase iterated")


def test_an_element_behind_the_end(space):
    result = space.epop("--driver", "debug", "--start", "2", DESCRIBED, "fault=behind", "resize=3", ranks=3, limit=90)
    assert_named(result, "described: element 1 'work' (EP), iteration ", "rank 1 of 3: described array 'u': this rank has written "
                 "behind its end, 256 bytes from its beginning, while the phase iterated")


# ---- What the profile has


@pytest.mark.parametrize("options", [(), ("--no-ahead-data",)], ids=["ahead", "in the window"])
def test_traffic_by_array(space, options):
    """All that went is of some array: scratch does not move, and values are no redistribution. One is constant."""
    space.epop(*options, "--driver", "profile", "--output", "profile.json", "--start", "2", DESCRIBED, "resize=3", ranks=3, limit=90)
    profile = validate("profile", json.loads((space.directory / "profile.json").read_text()))
    adaptation, = profile["adaptations"]
    arrays = adaptation["arrays"]
    assert [one["name"] for one in arrays] == ["u", "k", "m", "table", "grown"], arrays
    for key in ("sent", "received", "least"):
        assert sum(one[key] for one in arrays) == adaptation["bytes"][key] > 0, adaptation
    constant = moved(97, lambda i, size: i % size) * 4
    assert [one["ahead"] for one in arrays] == [0, 0 if options else constant, 0, 0, 0]
    by_name = {one["name"]: one["sent"] for one in arrays}
    assert by_name["table"] == 11 * 8 and by_name["k"] == (constant if options else 0)
    assert by_name["u"] == moved(97, lambda i, size: block_owner(i, 97, size)) * 8


def block_owner(index, count, size):
    parts = [count // size + (rank < count % size) for rank in range(size)]
    return next(rank for rank in range(size) if index < sum(parts[:rank + 1]))


def moved(count, owner):
    """Elements that have another owner on 3 ranks than on 2."""
    return sum(owner(i, 2) != owner(i, 3) for i in range(count))


# ---- Before it runs


def test_no_describe_block(space):
    """Before anything runs, also without MPI."""
    path = space.directory / "undescribed.c"
    path.write_text("#include <epop/epop.h>\n"
                    "static int init(int *c, char ***v, void **d) { (void)c, (void)v, (void)d; return 0; }\n"
                    "static int exec(void *d) { (void)d; return 0; }\n"
                    "epop_program_t *get_program(void)\n{\n"
                    "    epop_program_t *p = epop_program_create(\"undescribed\");\n"
                    "    epop_add_init(p, \"start\", init);\n"
                    "    epop_add_elastic(p, \"work\", exec, epop_adapt_described, exec);\n    return p;\n}\n")
    binary = executables.compile_c(path, path.with_suffix(".so"), "-shared", "-fPIC", f"-L{job.BUILD}/lib", "-lepop",
                                   f"-Wl,-rpath,{job.BUILD}/lib")
    result = space.epop("--driver", "check", binary)
    assert result.status != 0 and ("element 1 'work' (EP): its phase_adapt block is epop_adapt_described, but the program has no "
                                   "describe block; epop_describe sets it") in result.err, result


def test_a_program_of_version_1_runs(space):
    """Its structure ends before the blocks: what lies behind it is not looked at."""
    path = space.directory / "old.c"
    path.write_text("#include <epop/program.h>\n"
                    "static int init(int *c, char ***v, void **d) { (void)c, (void)v, (void)d; return 0; }\n"
                    "static epop_element_t elements[] = {{.type = EPOP_INIT, .init = init}};\n"
                    "static epop_program_t program = {.size = 1, .elements = elements, .abi_version = 1, .finalizer = -1};\n"
                    "epop_program_t *get_program(void)\n{\n"
                    "    *(void **)&program.describe = *(void **)&program.release = *(void **)&program.rebuild = &program;\n"
                    "    return &program;\n}\n")
    binary = executables.compile_c(path, path.with_suffix(".so"), "-shared", "-fPIC")
    result = space.epop(binary)
    assert result.status == 0 and result.err == "", result
    assert "blocks of the program" not in space.epop("--driver", "check", binary).out


def test_check_says_what_blocks_there_are(space):
    result = space.epop("--driver", "check", DESCRIBED)
    assert "blocks of the program: describe rebuild release\n" in result.out, result
    result = space.epop("--driver", "check", job.program("branches"))
    assert result.status == 0 and "blocks of the program" not in result.out, result
