"""The communicators of a window are made before the ranks stand still; one that does not come to pass leaves none."""


import job
import joining
import pytest
from scenario import Scenario, Switch
from executables import LINKED, compile_c, go_through, source

pytestmark = joining.needed

SIZES = (1, 1, 3)


class Counting(Scenario):
    """Two ranks, of which rank 1 can be held as preload_hold.c says."""

    def __init__(self, space):
        self.asked, self.hold = Switch(space, "count"), Switch(space, "hold")
        super().__init__(space, f"count={self.asked}", start=2, ranks=2, program="scenario_communicators",
                         options=("--backend", "join"),
                         env={"LD_PRELOAD": job.test_program("preload_hold"), "EPOP_TEST_HOLD": self.hold})
        self.lines = 0

    def free(self):
        """How many communicators can be made."""
        self.asked.on()
        match, self.lines = self.it.wait_for_line(r"^free communicators: (\d+)$", start=self.lines)
        return int(match[1])

    def wait_for_free(self, count):
        """What is called off is freed by another thread."""
        job.wait_for(self.free, 30, lambda free: free == count)

    def call_off(self, size):
        """A resize that is prepared while the job is paused, and then cancelled. Returns when all ranks know that."""
        self.done("pause")
        self.done("resize", str(size))
        self.wait_for_status(lambda status: status["adaptations"][-1]["state"] == "prepared")
        self.done("cancel")
        self.done("where")  # which they answer after what they heard before
        self.done("resume")

    def end(self):
        self.done("stop")
        result = self.it.wait()
        assert result.status == 0 and result.err == "", result


def test_a_call_off_leaves_no_communicators(space):
    """Also when it comes between their making and the end of the thread that made them."""
    it = Counting(space)
    free = it.free()
    for size in SIZES:
        it.hold.on()
        it.call_off(size)
        it.hold.off()
        it.wait_for_free(free)
    it.end()


def test_a_call_off_when_all_is_made_leaves_no_communicators(space):
    """The control case."""
    it = Counting(space)
    free = it.free()
    for size in SIZES:
        it.call_off(size)
        it.wait_for_free(free)
    it.end()


@pytest.mark.parametrize("leave", ["return", "commit"])
def test_who_leaves_while_earlier_resizes_are_being_disconnected(space, leave):
    """It is gone when the others have closed their connections to it, and neither hangs nor resets them."""
    loop = compile_c(source("adapt_loop"), space.directory / "loop", *LINKED)
    late = {"LD_PRELOAD": job.test_program("preload_late"), "EPOP_TEST_LATE": 150, "EPOP_LEAVE": leave}
    go_through(space, [loop], (4, 2, 1, 4, 3, 2, 3, 2, 1), env=late)
