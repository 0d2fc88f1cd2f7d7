"""Reading the trace of a job, and what must be true of every trace."""

import collections
import json
import pathlib

from schemas import validate

JOB = 999999
TRACK = 1000000


class Trace:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = json.loads(self.path.read_text())
        self.events = self.data["traceEvents"]
        self.about = self.data["otherData"]

    def check(self):
        """By its schema, and by what no schema can say."""
        validate("trace", self.data)
        self._check_tracks()
        self._check_nesting()
        self._check_flows()
        self._check_order()
        self._check_mpi_time()
        return self

    def of(self, phase, category=None, name=None, pid=None):
        return [event for event in self.events if event["ph"] == phase and
                category in (None, event.get("cat")) and name in (None, event["name"]) and pid in (None, event["pid"])]

    def slices(self, category=None, name=None, pid=None):
        return self.of("X", category, name, pid)

    def process(self, number):
        return next(process for process in self.about["processes"] if process["process"] == number)

    def processes(self):
        return [process["process"] for process in self.about["processes"]]

    def names(self):
        """{process: the name of its track}"""
        return {event["pid"]: event["args"]["name"] for event in self.of("M", name="process_name")}

    def world_sizes(self):
        """In the order of time."""
        return [event["args"]["ranks"] for event in sorted(self.of("C", name="world size"), key=lambda e: e["ts"])]

    def requests(self):
        return [event["name"] for event in sorted(self.of("i"), key=lambda event: event["ts"])]

    # ---- What holds for all

    def _check_tracks(self):
        """Every process has one name, which says who it is, and all its events are on its own tracks."""
        named = collections.Counter(event["pid"] for event in self.of("M", name="process_name"))
        assert set(named) == {JOB, *self.processes()} and set(named.values()) == {1}
        assert len(set(self.processes())) == len(self.processes())
        for process in self.about["processes"]:
            assert self.names()[process["process"]] == \
                f"process {process['process']} (host {process['host']}, pid {process['pid']})"
        for event in self.events:
            assert event["tid"] % TRACK == event["pid"] or event["pid"] == JOB == event["tid"]
            assert event["ph"] == "M" or (event["pid"], event["tid"]) in self._named_tracks()

    def _named_tracks(self):
        if not hasattr(self, "_tracks"):
            self._tracks = {(event["pid"], event["tid"]) for event in self.of("M", name="thread_name")}
        return self._tracks

    def _check_nesting(self):
        """On one track a slice lies in another one or behind it, also in whole nanoseconds; they come in that order."""
        tracks = collections.defaultdict(list)
        for event in self.slices():
            begin, duration = round(event["ts"] * 1000), round(event["dur"] * 1000)
            tracks[event["tid"]].append((begin, begin + duration, event))
        for slices in tracks.values():
            around = []
            for begin, end, event in slices:
                while around and around[-1][1] <= begin:
                    around.pop()
                assert not around or (around[-1][0] <= begin and end <= around[-1][1]), (around[-1], event)
                around.append((begin, end, event))

    def _check_flows(self):
        """An arrow has both ends, goes forward, and is bound to the moves of the two processes that it names."""
        ends = collections.defaultdict(dict)
        for event in self.of("s") + self.of("f"):
            assert event["ph"] not in ends[event["id"]]
            ends[event["id"]][event["ph"]] = event
        for both in ends.values():
            sent, received = both["s"], both["f"]
            assert sent["args"] == received["args"] and sent["ts"] <= received["ts"]
            assert sent["pid"] == sent["args"]["from"] and received["pid"] == received["args"]["to"]
            for event in (sent, received):
                assert len(self._moves_around(event)) == 1, event

    def _moves_around(self, event):
        return [move for move in self.slices("adaptation", "move", event["pid"])
                if move["ts"] <= event["ts"] <= move["ts"] + move["dur"] and
                move["args"]["adaptation"] == event["args"]["adaptation"]]

    def _check_order(self):
        """What happens once at a time goes forward: iterations of a visit, counters."""
        for number in self.processes():
            seen = [(event["args"]["visit"], event["args"]["iteration"]) for event in
                    self.slices("iteration", pid=number)]
            assert seen == sorted(set(seen)) or not self.process(number)["finished"]
            times = [event["ts"] for event in self.of("C", name="MPI", pid=number)]
            assert times == sorted(times)

    def _check_mpi_time(self):
        """The counter adds up to the time in MPI."""
        for number in self.processes():
            points = [(event["ts"], event["args"]["share"]) for event in self.of("C", name="MPI", pid=number)]
            total = sum(share * (after - before) for (before, share), (after, _) in zip(points, points[1:]))
            process = self.process(number)
            if process["finished"] and process["kept"]["samples"]["one_in"] == 1 and points:
                assert abs(total - process["mpi_time_us"]) < 100 + 1e-4 * (points[-1][0] - points[0][0]), number
