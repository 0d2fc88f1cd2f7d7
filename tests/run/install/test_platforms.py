"""tests/platforms/run where it cannot be done, and what tests/all.sh makes of a stage that cannot be run, or fails once."""

import os
import subprocess

import job
import pytest

ALL, RUN = job.ROOT / "tests/all.sh", job.ROOT / "tests/platforms/run"


def without_namespaces(tmp_path, *command, **env):
    unshare = tmp_path / "unshare"
    unshare.write_text("#!/bin/sh\nexit 1\n")
    unshare.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "EPOP_CACHE": str(tmp_path / "cache"), **env}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_suite_is_named():
    for words in ([], ["../trixie"]):
        done = subprocess.run([RUN, *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and done.stderr.startswith("usage: tests/platforms/run SUITE"), done


def test_where_it_cannot_be_done(tmp_path):
    done = without_namespaces(tmp_path, RUN, "trixie")
    assert done.returncode == 77 and done.stderr.endswith(": nothing was looked at\n"), done
    assert not (tmp_path / "cache").exists()


def test_a_stage_that_cannot_be_run_is_skipped(tmp_path):
    done = without_namespaces(tmp_path, ALL, CI="true", TEST_STAGES="platform", TEST_LOGS=str(tmp_path / "logs"))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0].startswith("skipped platform trixie") and "nothing was looked at" in lines[0], done
    assert lines[1:] == ["0 passed, 0 failed, 1 skipped"], done


@pytest.mark.parametrize("tries,line,last", [(1, "ok      style", ["1 passed, 0 failed"]),
                                             (2, "again   style", ["unsteady, to be looked into:  'style'", "1 passed, 0 failed"]),
                                             (3, "FAILED  style", ["0 passed, 1 failed"])])
def test_a_failed_stage_has_a_second_try(tmp_path, tries, line, last):
    tried = tmp_path / "tried"
    (tmp_path / "clang-format").write_text(f"""#!/bin/sh
[ "$1" = --version ] && echo version 14. && exit
echo >> {tried}
[ $(wc -l < {tried}) -ge {tries} ]
""")
    (tmp_path / "clang-format").chmod(0o755)
    (tmp_path / "find").write_text("#!/bin/sh\nexec clang-format all\n")
    (tmp_path / "find").chmod(0o755)
    done = without_namespaces(tmp_path, ALL, CI="true", TEST_STAGES="style", TEST_LOGS=str(tmp_path / "logs"))
    lines = done.stdout.splitlines()
    assert done.returncode == (tries > 2) and lines[0].startswith(line) and lines[-len(last):] == last, done


def test_a_stage_is_named_by_all_its_words(tmp_path):
    done = without_namespaces(tmp_path, ALL, TEST_STAGES="run:deps", TEST_LOGS=str(tmp_path / "logs"))
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [["ok", "run", "deps"], ["1", "passed,", "0"]], done


@pytest.mark.parametrize("name", ["none:such", "run:dep", "run:deps.py"])
def test_a_stage_that_there_is_not_is_an_error(tmp_path, name):
    done = without_namespaces(tmp_path, ALL, TEST_STAGES=f"run:deps {name}", TEST_LOGS=str(tmp_path / "logs"))
    assert done.returncode == 2 and done.stdout == "" and done.stderr == f"tests/all.sh: TEST_STAGES: there is no stage '{name}'\n", done
