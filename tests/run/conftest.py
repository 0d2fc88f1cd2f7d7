"""Fixtures of the tests in the folders here, each of which is a subject, and where they find their helpers and the tree's own modules."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / folder) for folder in ("tests/run/helpers", "tests", "tests/slurm", "docs", "interpose")]
sys.dont_write_bytecode = True  # beside the modules in these folders

import job  # noqa: E402


def pytest_collection_modifyitems(config, items):
    """With EPOP_JOINS=alone the tests that need processes that join, as the others say the same with any MPI (tests/all.sh)."""
    if os.environ.get("EPOP_JOINS") == "alone":
        import joining
        config.hook.pytest_deselected(items=[item for item in items if not joining.needed_by(item)])
        items[:] = [item for item in items if joining.needed_by(item)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails shows what the commands have said that it started, besides the one that it complains of."""
    outcome = yield
    started = getattr(item, "funcargs", {}).get("space")
    if call.when == "call" and call.excinfo and started:
        outcome.get_result().sections.append(("What the commands of this test said", started.said()))


@pytest.fixture
def space(tmp_path):
    """A job.Space: starts processes, and sees to it that none is left."""
    it = job.Space(tmp_path)
    yield it
    it.close()


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What `make install` gives, for all tests of a file."""
    import installed
    place = tmp_path_factory.mktemp("tree")
    installed.install(f"PREFIX={place}")
    return place


@pytest.fixture
def fake(space):
    """A fake.FakeJob that listens to the network, too."""
    import fake as jobs
    jobs.listen_to_network(space)
    it = jobs.FakeJob(space)
    yield it
    if it.process.running():
        it.end()


@pytest.fixture
def net(space):
    """Three hosts, n1 to n3; tests that need others have a fixture of their own."""
    import hosts
    try:
        yield hosts.Hosts(space, ["n1", "n2", "n3"])
    except hosts.Unavailable as why:
        pytest.skip(f"no namespaces here: {why}")


@pytest.fixture(scope="module")
def browser():
    """A browser.Browser, for all pages of a file of tests."""
    import browser as browsers  # what it needs is there for the report's tests alone
    it = browsers.Browser()
    yield it
    it.close()
