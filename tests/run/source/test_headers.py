"""The public headers: each alone, in C11 and C++17, with both compilers, without a warning."""

import subprocess

import job
import pytest

HEADERS = sorted((job.ROOT / "epop_api/epop").glob("*.h"))
WITHOUT_MPI = {"program.h", "driver.h", "policy.h", "visibility.h"}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
LANGUAGES = {"gcc": ["-x", "c", "-std=c11"], "clang": ["-x", "c", "-std=c11"],
             "g++": ["-x", "c++", "-std=c++17"], "clang++": ["-x", "c++", "-std=c++17"]}


def mpi_flags():
    words = subprocess.run(["mpicc.mpich", "-compile_info"], capture_output=True, text=True, check=True).stdout.split()
    return [word for word in words if word.startswith("-I")]


@pytest.mark.parametrize("compiler", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_header_compiles_alone(tmp_path, compiler, header):
    source = tmp_path / "source"
    include = f"#include <epop/{header.name}>\n"
    source.write_text("#define EPOP_SHORT_NAMES\n" + 2 * include + "int main(void) { return 0; }\n")
    includes = [f"-I{job.ROOT / 'epop_api'}"] + ([] if header.name in WITHOUT_MPI else mpi_flags())
    result = subprocess.run([compiler, *LANGUAGES[compiler], *STRICT, *includes, str(source)],
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


CPP_PROGRAM = """
#include <epop/epop.h>
static int init(int *, char ***, void **) { return 0; }
static int exec(void *) { return 0; }
extern "C" epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("cpp");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "work", exec, nullptr);
    return program;
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_program_in_cpp_loads(space, compiler):
    source, program = space.directory / "cpp.cpp", space.directory / "cpp.so"
    source.write_text(CPP_PROGRAM)
    subprocess.run([compiler, "-std=c++17", *STRICT[:-1], "-shared", "-fPIC", f"-I{job.ROOT / 'epop_api'}",
                    *mpi_flags(), str(source), "-o", str(program), f"-L{job.BUILD / 'lib'}", "-lepop"],
                   check=True, timeout=60)
    result = space.epop("--driver", "check", program)
    assert result.status == 0 and "RP    work" in result.out, result
