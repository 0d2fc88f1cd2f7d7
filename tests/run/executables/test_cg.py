"""Conjugate gradients, rigid (programs/plain/cg.c) and malleable (cg_adapt.c), and what docs/guide/executables.md says of the two."""

import difflib
import re
import subprocess

import job
import joining
import pages
import pytest
from executables import LINKED, MPICC, wait_until_probed

SOURCES = job.ROOT / "programs/plain"
MALLEABLE = job.BUILD / "plain/cg_adapt"
PAGE = job.ROOT / "docs/guide/executables.md"
MESSAGES = job.ROOT / "docs/reference/messages.md"
MANY = 4 if joining.WORKS else 2  # where ranks that wait sleep
EASY = ["-g", "24x24", "-t", "1e-6"]  # some 50 iterations for a system


@pytest.fixture(scope="module")
def rigid(tmp_path_factory):
    """Without any of EPOP."""
    binary = tmp_path_factory.mktemp("cg") / "cg"
    subprocess.run([*MPICC, "-std=gnu11", "-O2", "-Wall", "-Werror", SOURCES / "cg.c", "-o", binary, "-lm"], check=True, timeout=60)
    return binary


def run(space, binary, *arguments, ranks=1):
    result = space.start([job.MPIEXEC, "-n", ranks, binary, *arguments]).wait()
    assert result.status == 0 and result.err == "", result
    return result.out


def history(out):
    """The residual and the number of processes of each iteration that -v printed, by (system, iteration)."""
    rows = [line.split() for line in out.splitlines() if line[:1].isdigit()]
    return {(int(row[0]), int(row[1])): (float(row[2]), int(row[3])) for row in rows}


def systems(out):
    """Of each system: iterations, and two numbers that its solution makes."""
    rows = re.findall(r"^system \d+: (\d+) iterations, residual \S+ solution (\S+) (\S+), \d+ processes$", out, flags=re.M)
    return [(int(iterations), float(total), float(norm)) for iterations, total, norm in rows]


def differ(one, other):
    """By how much two results do, relatively; what only one has, or is but rounding errors, is none of it."""
    residuals, others = history(one), history(other)
    off = [abs(residuals[at][0] / others[at][0] - 1) for at in residuals if at in others and others[at][0] > 1e-9]
    for mine, theirs in zip(systems(one), systems(other)):
        assert abs(mine[0] - theirs[0]) <= 1, (mine, theirs)
        off += [abs(mine[i] / theirs[i] - 1) for i in (1, 2)]
    assert len(off) > 15
    return max(off)


def start(space, *arguments, binary=MALLEABLE, ranks=2, **how):
    running = space.start([job.MPIEXEC, "-n", ranks, binary, *arguments], **how)
    space.wait_until_running(running)
    return running


# ---- What the two compute ------------------------------------------------------------------------


def test_a_file_and_a_grid_with_the_same_matrix(space, rigid):
    lines = ["%%MatrixMarket matrix coordinate real symmetric", "% the lower half", "6 6 13"]
    lines += [f"{i} {i} 4" for i in range(1, 7)] + [f"{i} {i - 1} -1" for i in (2, 3, 5, 6)] + [f"{i} {i - 3} -1" for i in (4, 5, 6)]
    (space.directory / "a.mtx").write_text("\n".join(lines) + "\n")
    arguments = ["-s", "6", "-t", "1e-12"]
    out = run(space, rigid, "-f", "a.mtx", *arguments, ranks=2)
    assert out == run(space, rigid, "-g", "3x2", *arguments, ranks=2) and len(systems(out)) == 6


@pytest.mark.parametrize("text", ["", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
                                  "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
                                  "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n"])
def test_a_file_that_is_none(space, text):
    """Of the malleable one: what a program under Hydra alone prints before MPI_Abort may be lost."""
    (space.directory / "a.mtx").write_text(text)
    result = space.start([job.MPIEXEC, "-n", 1, MALLEABLE, "-f", "a.mtx"]).wait()
    assert result.status == 1 and result.err.startswith("cg: a.mtx: "), result


@pytest.mark.parametrize("grid", ["24x24", "9x8x7", "3x1"])
def test_the_number_of_processes_does_not_matter(space, rigid, grid):
    """Nor which of the two programs it is, as long as it is not resized; there may be more processes than rows."""
    arguments = ["-g", grid, "-t", "1e-6", "-s", "4", "-v"]
    one = run(space, rigid, *arguments)
    assert len(systems(one)) == 4
    for binary, ranks in ((rigid, MANY - 1), (MALLEABLE, 2), (MALLEABLE, MANY)):
        assert differ(one, run(space, binary, *arguments, ranks=ranks)) < 1e-10


# ---- The malleable one ----------------------------------------------------------------------


@joining.needed
def test_20_resizes_while_it_iterates(space, rigid):
    sizes = [3, 1, 2, 4, 3, 2, 1, 4, 2, 1] * 2
    running = start(space, *EASY, "-s", 100000000, "-v", limit=120)
    for size in sizes:
        space.resize(size)
    resized = space.stop(running)
    assert resized.err == "", resized
    worlds = [ranks for _, ranks in history(resized.out).values()]
    seen = [now for before, now in zip(worlds, worlds[1:]) if now != before]
    assert seen == sizes
    plain = run(space, rigid, *EASY, "-s", len(systems(resized.out)), "-v")
    assert len(systems(plain)) > 20 and differ(plain, resized.out) < 1e-10


@pytest.mark.parametrize("sizes, count", [pytest.param((1,), 800, id="shrink"),
                                          pytest.param((4, 2), 300, id="both", marks=joining.needed)])
def test_resized_it_comes_to_its_end(space, rigid, sizes, count):
    """The requests come while it stands still, so that it does not end before, however fast it is."""
    arguments = ["-g", "40x40", "-s", count]
    running = start(space, *arguments, ranks=2, limit=300)
    for ranks in sizes:
        assert space.epopctl("pause").status == 0
        assert space.epopctl("resize", ranks).status == 0
        space.wait_for_status(lambda it: it["adaptations"][-1]["state"] == "prepared")
        assert space.epopctl("resume").status == 0
        space.wait_for_status(lambda it, ranks=ranks: it["size"] == ranks)
    result = running.wait()
    assert result.status == 0 and result.err == "" and len(systems(result.out)) == count, result
    assert result.out.splitlines()[-1].endswith(f", {sizes[-1]} processes"), result
    assert differ(run(space, rigid, *arguments), result.out) < 1e-10


# ---- Faults that the page on messages names -----------------------------------------------------------


def errors(space):
    return space.directory / "errors"


def wrong(space, *changes):
    """cg_adapt with changes: pairs of what stands there and what does instead. Its processes write their errors into a file
    by themselves: of the last lines before MPI aborts Hydra's mpiexec may lose some."""
    source = "#include <fcntl.h>\n" + (SOURCES / "cg_adapt.c").read_text()
    source = source.replace("    MPI_Init_adapt(", f'    dup2(open("{errors(space)}", O_WRONLY | O_CREAT | O_APPEND, 0600), 2);\n    MPI_Init_adapt(')
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    (space.directory / "wrong.c").write_text(source)
    subprocess.run([*MPICC, "-std=gnu11", "-O1", "-g", f"-I{job.ROOT / 'epop_api'}", "wrong.c", "-o", "wrong", *LINKED, "-lm"], check=True,
                   timeout=60, cwd=space.directory)
    return space.directory / "wrong"


WITHOUT_FREE = ("    MPI_Comm_free(&s->comm);\n", "")
# What is printed: the number of processes to resize to, if any, and the fault.
FAULTS = {
    "no adaptation is pending; call it when MPI_Probe_adapt answered MPI_ADAPT_TRUE":
        (None, ("        if (pending == MPI_ADAPT_TRUE)\n", "")),
    "MPI_Finalize: an adaptation is open; commit it before": (1, ("    MPI_Comm_adapt_commit();\n    if", "    if")),
    "epop_redist_csr: the count is 0 on one rank and 576 on another; it must be the same on all":
        (3, ("epop_redist_replicated(window, &s->n, 1, MPI_INT) ||", "")),
    "free(): invalid pointer":
        (1, ("s->p = allocate(s->p, (size_t)s->rows", "s->p = 1 + (double *)allocate(s->p ? s->p - 1 : NULL, 1 + (size_t)s->rows")),
    "Too many communicators":
        (1, WITHOUT_FREE, ("static void enter_world(struct cg *s)\n{\n", "static void enter_world(struct cg *s)\n{\n"
                           "    for (int i = 0; i < 1500; i++)\n        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);\n")),
    "Invalid communicator":
        (3, WITHOUT_FREE, ("    enter_world(s);\n    choose", "    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);\n"
                           "    MPI_Comm_size(MPI_COMM_WORLD, &s->size);\n    choose")),
    "SIGSEGV (Segmentation fault) at address ..., pid ... on ...":
        (3, ("    MPI_Comm_adapt_commit();\n", "    MPI_Comm_adapt_commit();\n    s->col = s->start = NULL;\n")),
}


def growing(size):
    return size is not None and size > 2


@pytest.mark.parametrize("printed", [pytest.param(text, marks=joining.needed if growing(what[0]) else [])
                                     for text, what in FAULTS.items()])
def test_a_fault_is_told_as_the_page_says(space, printed):
    size, *changes = FAULTS[printed]
    running = space.start([job.MPIEXEC, "-n", 2, wrong(space, *changes), "-g", "24x24", "-s", 100000000])
    if size is not None:
        space.wait_until_running()
        space.epopctl("resize", size, "--wait")
    result = running.wait()
    said = errors(space).read_text()
    assert result.status != 0 and re.search(pattern(printed), said) and names(said, printed), result


def pattern(text):
    """With ... for what differs."""
    return re.escape(text).replace(r"\.\.\.", ".*")


def names(said, printed=""):
    """The page has a row, or an item of a list, for what is printed."""
    rows = re.findall(r"^(?:\| |- )`([^`]+)`", MESSAGES.read_text(), flags=re.M)
    lines = [line for line in said.splitlines() if re.search(pattern(printed), line)]
    return any(re.search(pattern(row), line) for row in rows for line in lines)


def test_probes_that_are_not_equally_many(space):
    """The resize is called off; the job goes on."""
    running = start(space, *EASY, "-s", 100000000, binary=wrong(
        space, ("        MPI_Probe_adapt(", "        pending = MPI_ADAPT_FALSE;\n        if (!s.rank || s.iteration % 3)\n        MPI_Probe_adapt(")))
    wait_until_probed(space)
    refused = space.epopctl("resize", 1, "--wait")
    assert refused.status == 1 and "the ranks do not probe equally often" in refused.err and names(refused.err), refused
    assert space.epopctl("stop", "--force", "--wait").status == 0
    running.wait()


def test_a_process_that_left_goes_on(space):
    """That is noted, and its own affair."""
    running = start(space, *EASY, "-s", 100000000, binary=wrong(
        space, ("        if (status == MPI_ADAPT_STATUS_LEAVING)\n            break;\n", ""),
        ("    if (status == MPI_ADAPT_STATUS_LEAVING)\n        return;\n", "")))
    space.resize(1)
    job.wait_for(lambda: "used MPI_COMM_WORLD" in errors(space).read_text())
    assert names(errors(space).read_text()), errors(space).read_text()
    space.stop(running)


def test_the_end_without_mpi_finalize(space):
    result = space.start([job.MPIEXEC, "-n", 1, wrong(space, ("    MPI_Finalize();\n", "")), "-s", 1]).wait()
    printed = "rank 0 called exit(0), or returned from main, before MPI_Finalize"
    assert names(errors(space).read_text(), printed), result


def test_columns_that_are_not_unmapped_compute_something_else(space, rigid):
    """And nobody says so: the tests above would find it."""
    running = start(space, *EASY, "-s", 100000000, "-v", binary=wrong(space, ("        unmap_columns(s);\n", "        (void)unmap_columns;\n")))
    space.resize(1)
    before = len(history(running.out))
    job.wait_for(lambda: len(history(running.out)) > before + 500)
    assert space.epopctl("stop", "--wait").status == 0
    out = running.wait().out
    reached = max(system for system, _ in history(out))  # which may be the one that the resize fell into: it never converges
    residuals, plain = history(out), history(run(space, rigid, *EASY, "-s", reached + 1, "-v"))
    assert any(abs(residuals[at][0] / plain[at][0] - 1) > 1e-6 for at in residuals if at in plain)


# ---- What the page shows -----------------------------------------------------------------------------


def changes():
    """All lines of both sources behind the comments at their heads, as diff shows them."""
    sources = [(SOURCES / name).read_text().split("*/\n", 1)[1].splitlines() for name in ("cg.c", "cg_adapt.c")]
    return list(difflib.unified_diff(*sources, n=10**6, lineterm=""))[3:]


def signs(lines):
    """How many lines come, and how many go, not counting empty ones."""
    return tuple(sum(line[0] == sign and len(line) > 1 for line in lines) for sign in "+-")


def shown():
    """The lines of each diff on the page."""
    return [block.text.splitlines() for block in pages.blocks(PAGE) if block.language == "diff"]


def test_each_diff_on_the_page_is_that_of_the_files():
    whole = changes()
    for lines in shown():
        places = [at for at, line in enumerate(whole) if line == lines[0] and whole[at:at + len(lines)] == lines]
        assert len(places) == 1, lines


def test_the_page_shows_every_line_that_changes():
    parts = [line for lines in shown() for line in lines]
    missing = [line for line in changes() if line[0] in "+-" and len(line) > 1 and not line.startswith("+/* ----") and line not in parts]
    assert missing == []


def test_the_page_counts_the_lines():
    text = PAGE.read_text()
    assert f"The first has {len((SOURCES / 'cg.c').read_text().splitlines())} lines" in text
    assert "**{} come, and {} go**".format(*signs(changes())) in text
