"""The published interfaces (docs/reference/published.md): their listings compile and run as they are printed, and what
differs from EPOP's does not compile."""

import shutil
import subprocess

import job
import pytest

from executables import MPICC

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
STANDARDS = ["c11", "gnu17", "c2x"]
EVERYWHERE = pytest.mark.parametrize("compiler, standard", [(compiler, standard) for compiler in COMPILERS for standard in STANDARDS])
ENDS = pytest.mark.parametrize("standard", ["gnu17", "c2x"])  # of the two types that phase_exec has


def mpi_flags():
    words = subprocess.run([*MPICC, "-compile_info"], capture_output=True, text=True, check=True).stdout.split()
    return [word for word in words if word.startswith("-I")]


def compiled(space, compiler, standard, text, *flags, strict=True):
    """How the compiler ended, which makes the shared object p.so."""
    (space.directory / "p.c").write_text(text)
    return subprocess.run([compiler, f"-std={standard}", *(["-Wall", "-Wextra", "-Werror"] if strict else []), f"-I{job.ROOT / 'epop_api'}",
                           *mpi_flags(), *flags, "-shared", "-fPIC", "p.c", "-o", "p.so", f"-L{job.BUILD / 'lib'}", "-lepop"],
                          cwd=space.directory, capture_output=True, text=True, timeout=60)


# ---- Listing 7.6 of 2017

HEAD = """
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <stdio.h>
#include <stdlib.h>
"""

# What the listing leaves out between its lines: its variables, the work, and what it returns.
BLOCKS = """
static struct { int status, rank, size, count, phase0_passes, phase1_passes; } appdata;

int init(int *argn, char ***argc, void **data){
  MPI_Init_adapt(NULL, NULL, &appdata.status);
  MPI_Comm_rank(MPI_COMM_WORLD, &appdata.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &appdata.size);
  appdata.phase0_passes = *argn > 1 ? atoi((*argc)[1]) : 10;
  appdata.phase1_passes = appdata.phase0_passes + 5;
  *data = (void*) &appdata;
  return 0;
}
int adapt(void* data){
  MPI_Comm intercomm, new;
  int staying_count, leaving_count, joining_count;
  (void)data;
  MPI_Comm_adapt_begin(&intercomm, &new,
      &staying_count, &leaving_count, &joining_count);
  if (new != MPI_COMM_NULL) MPI_Bcast(&appdata.count, 1, MPI_INT, 0, new);
  MPI_Comm_adapt_commit();
  return 0;
}
int phase0(void* data){
  int least = appdata.count;
  (void)data;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least == appdata.count++ ? 0 : 1;
}
int phase0_condition (void *data){
  (void)data;
  if (appdata.count <= appdata.phase0_passes) return 1;
  else return 0;
}
int phase1(void* data){
  return phase0(data);
}
int phase1_condition (void *data){
  (void)data;
  if (appdata.count <= appdata.phase1_passes) return 1;
  else return 0;
}
int fini(void* data){
  (void)data;
  MPI_Comm_rank(MPI_COMM_WORLD, &appdata.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &appdata.size);
  if (appdata.rank == 0) printf("%d passes, at the end on %d ranks\\n", appdata.count, appdata.size);
  MPI_Finalize();
  return 0;
}
"""

AS_PRINTED = """
program_t *get_program(void){
  program_t *program = malloc( sizeof(program_t) );
  epop_alloc_phases(&program, 4);
  program->elements[0].type           = INIT;
  program->elements[0].phase_exec     = init;
  program->elements[1].type           = EP;
  program->elements[1].phase_adapt    = adapt;
  program->elements[1].phase_exec     = phase0;
  program->elements[1].loop_condition = phase0_condition;
  program->elements[2].type           = EP;
  program->elements[2].phase_adapt    = adapt;
  program->elements[2].phase_exec     = phase1;
  program->elements[2].loop_condition = phase1_condition;
  program->elements[3].type           = RP;
  program->elements[3].phase_exec     = fini;
  program->elements[3].loop_condition = NULL;
  return program;
}
"""
LISTING = HEAD + BLOCKS + AS_PRINTED


@EVERYWHERE
def test_listing_7_6_compiles(space, compiler, standard):
    result = compiled(space, compiler, standard, LISTING, "-DEPOP_SHORT_NAMES")
    assert result.returncode == 0, result.stderr


@ENDS
def test_listing_7_6_runs(space, standard):
    """In two sizes, with ranks that join and ranks that leave."""
    assert compiled(space, "gcc", standard, LISTING, "-DEPOP_SHORT_NAMES").returncode == 0
    running = space.start_slowly("--start", "1", "./p.so", "20", ranks=3)
    space.wait_until_running(running)
    for size in (3, 2):
        space.resize(size)
    space.go_on()
    result = running.wait()
    assert result.status == 0 and result.out == "26 passes, at the end on 2 ranks\n" and not result.err, result


def test_listing_7_6_is_described(space):
    """INIT's function as what it is, though it is where those of phases are."""
    assert compiled(space, "gcc", "c11", LISTING, "-DEPOP_SHORT_NAMES").returncode == 0
    result = space.epop("--driver", "check", "./p.so")
    assert result.status == 0 and [line.split()[:4] for line in result.out.splitlines() if " INIT " in line] == [["0", "INIT", "INIT", "init"]], result


# As in listing 7.4, which contradicts 7.6 and the text.
NOTHING = "static void nothing(void *data){ (void)data; }\n"


@pytest.mark.parametrize("line", ["phase_exec     = phase1;", "phase_adapt    = adapt;", "loop_condition = phase1_condition;"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_blocks_that_return_nothing_do_not_compile(space, compiler, line):
    """Without any option for warnings."""
    member = line.split()[0]
    text = HEAD + BLOCKS + NOTHING + AS_PRINTED.replace(line, f"{member} = nothing;")
    result = compiled(space, compiler, "gnu17", text, "-DEPOP_SHORT_NAMES", strict=False)
    assert result.returncode != 0 and "error" in result.stderr and "incompatible" in result.stderr, result.stderr


# ---- What differs from EPOP's does not compile

# Statements.
NAMES = "MPI_Session session = MPI_SESSION_NULL; char delta[MPI_MAX_PSET_NAME_LEN], next[MPI_MAX_PSET_NAME_LEN]; int terminate = 0;"
ACCEPT = NAMES + "MPI_Session_accept_res_change(session, MPI_INFO_NULL, delta, next, 0, MPI_COMM_NULL, &terminate);"
CHANGE = NAMES + "bool incl; MPI_rc_type type; MPI_rc_status_t status; MPI_Session_get_res_change(session, &type, delta, &incl, &status, NULL);"
CREATE = NAMES + "MPI_Session_pset_create_op(session, MPI_INFO_NULL, MPI_PSETOP_UNION, delta, delta, next);"
REINIT = "MPI_Session session, *all[] = {&session}, out; MPIX_Session_reinit(1, all, &out, MPI_INFO_NULL, " \
         "prepare, NULL, resume, NULL, 0, 0, 0, MPI_ERRORS_ARE_FATAL);"
PROBE = "int pending, status; MPI_Info info; MPI_Probe_adapt(&pending, &status, &info);"
FAULT = "int pending, status, nfailed, failed_ranks[8]; MPI_Info info; MPI_Probe_adapt(&pending, &status, &info, &nfailed, failed_ranks);"
BEGIN = "MPI_Comm between, after; int staying, leaving, joining; MPI_Comm_adapt_begin(&between, &after, &staying, &leaving, &joining); " \
        "MPI_Comm_adapt_commit();"
BEGIN_2015 = "MPI_Comm between, after; int index; MPI_Comm_adapt_begin(&between, &after, 0, 0); MPI_Comm_adapt_commit(&index);"
# {what: (header, flags, what compiles, what does not)}
OTHER_FORMS = {
    "terminate by its value": ("psets", (), ACCEPT, ACCEPT.replace("&terminate", "terminate")),
    "names that cannot be changed": ("psets", (), ACCEPT, ACCEPT.replace("char delta[MPI_MAX_PSET_NAME_LEN], next", 'const char *delta = ""; char next')),
    "no terminate": ("psets", (), ACCEPT, ACCEPT.replace(", &terminate", "")),
    "NULL as info": ("psets", (), ACCEPT, ACCEPT.replace("MPI_INFO_NULL", "NULL")),
    "an int for incl": ("psets", (), CHANGE, CHANGE.replace("bool incl", "int incl")),
    "the operation before info": ("psets", (), CREATE, CREATE.replace("MPI_INFO_NULL, MPI_PSETOP_UNION", "MPI_PSETOP_UNION, NULL")),
    "a callback that returns nothing": ("reinit", (), REINIT, REINIT.replace("prepare", "(void (*)(MPI_Session, int, int, int, void *))0")),
    "the other callback": ("reinit", (), REINIT, REINIT.replace("resume", "prepare")),
    "sessions instead of their addresses": ("reinit", (), REINIT, REINIT.replace("*all[] = {&session}", "all[] = {session}")),
    "the probe with faults": ("adapt", (), PROBE, FAULT),
    "the probe without faults": ("adapt", ("-DEPOP_MPI_ADAPT_FAULT",), FAULT, PROBE),
    "a list that is made": ("adapt", ("-DEPOP_MPI_ADAPT_FAULT",), FAULT, FAULT.replace("failed_ranks[8]", "*failed_ranks").replace("failed_ranks)", "&failed_ranks)")),
    "begin and commit of 2015": ("adapt", (), BEGIN, BEGIN_2015),
    "begin and commit of 2017": ("adapt", ("-DEPOP_MPI_ADAPT_2015",), BEGIN_2015, BEGIN),
}
CALLBACKS = """
static inline int prepare(MPI_Session session, int rank, int size, int leave, void *userdata)
{
    (void)session, (void)rank, (void)size, (void)leave, (void)userdata;
    return MPI_SUCCESS;
}
static inline int resume(MPI_Session session, int old_rank, int old_size, int new_rank, int new_size, void *userdata)
{
    (void)old_size;
    return prepare(session, old_rank, new_rank, new_size, userdata);
}
"""


@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_another_form_does_not_compile(space, compiler, form):
    """Without any option for warnings."""
    header, flags, right, wrong = OTHER_FORMS[form]

    def attempt(statements):
        text = f"#include <stddef.h>\n#include <epop/mpi_{header}.h>\n{CALLBACKS}void calls(void);\nvoid calls(void)\n{{\n{statements}\n}}\n"
        return compiled(space, compiler, "gnu17", text, *flags, strict=False)
    good, bad = attempt(right), attempt(wrong)
    assert right != wrong and good.returncode == 0 and not good.stderr, good.stderr
    assert bad.returncode != 0 and "error" in bad.stderr, bad.stderr
