"""Whole jobs of a build with ThreadSanitizer, for the threads of the control plane, of the records and of those that
connect processes beside the program. Space.close looks for reports. Any file of the other folders runs like this, too."""

import job
import joining
import pytest
from executables import LINKED, compile_c, compile_threads, go_through, the_world_changes_while_a_communicator_is_made, two_threads_begin_one_job
from joining import JoinScenario
from profiling import profiled, read
from scenario import REFUSED, Switch

pytestmark = joining.needed


def test_grow_and_shrink_while_records_are_written(space):
    it = JoinScenario(space, options=profiled(space, "--quiet", "--checkpoint", "0.05"))
    it.wait_until_here()
    it.resize(4)
    it.done("where")
    it.done("pause")
    it.done("resume")
    it.resize(3, "--release-ranks", "2")
    it.resize(2)
    it.stop(ranks=2, windows=3)
    assert len(read(space)["adaptations"]) == 3


def test_measured_while_it_is_resized(space):
    """The program's thread writes what the control thread reads, and switches on and off."""
    it = JoinScenario(space)
    it.wait_until_here()
    for size in (4, 2, 3, 2):
        it.done("measure", "--json", "--keep", "0")
        it.resize(size)
        it.done("measure", "--json")
    it.stop(ranks=2, windows=4)


def test_communicators_are_made_beside_the_windows(space):
    """The debug driver looks at those of the program's other threads, too."""
    it = JoinScenario(space, "beside=yes", options=("--driver", "debug"))
    it.wait_until_here()
    for size in (4, 2, 3, 2):
        it.resize(size)
    it.stop(ranks=2, windows=4)


def test_constant_data_moves_ahead(space):
    """Threads read and write arrays beside the program's."""
    it = JoinScenario(space, "n=4000", program="constants")
    it.wait_until_here()
    for size in (4, 2):
        it.resize(size)
        assert it.status()["adaptations"][-1]["ahead"] > 0
    it.stop(ranks=2, windows=2)


def resize_and_call_off(it, wait):
    waiting = it.start_ctl("resize", "4", "--wait")
    wait()
    it.done("cancel")
    assert waiting.wait().status == REFUSED


def check_goes_on(it):
    it.resize(4)
    it.resize(2)
    it.stop(ranks=2, windows=2)


def test_called_off_before_processes_are_connected(space):
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"join-waits-while={slow}")
    resize_and_call_off(it, lambda: it.it.wait_for_line("joining in process"))
    slow.off()
    check_goes_on(it)


def test_called_off_when_processes_are_connected(space):
    """The program stands in an iteration, so that nobody agrees where to adapt."""
    slow = Switch(space, "slow").on()
    it = JoinScenario(space, f"work-waits-while={slow}")
    resize_and_call_off(it, lambda: it.wait_for_adaptation("prepared"))
    slow.off()
    check_goes_on(it)


def test_a_joiner_dies_while_processes_connect(space):
    it = JoinScenario(space)
    it.launcher.preload("accept:kill:1")
    assert it.ctl("resize", "4", "--wait").status == REFUSED
    it.launcher.repair()
    check_goes_on(it)


@pytest.mark.parametrize("interface", ["psets", "successor", "reinit"])
def test_agents(space, interface):
    """Of programs that have sessions alone: they adapt beside the program's thread."""
    binary = compile_c(job.ROOT / f"tests/conformance/{interface}.c", space.directory / interface, "-g", "-fsanitize=thread", *LINKED)
    go_through(space, [binary], (3, 1, 2))


def test_sessions_of_two_threads(space):
    two_threads_begin_one_job(space, compile_threads(space.directory, "-g", "-fsanitize=thread"))


def test_a_world_that_changes_meanwhile(space):
    the_world_changes_while_a_communicator_is_made(space, compile_threads(space.directory, "-g", "-fsanitize=thread"))
