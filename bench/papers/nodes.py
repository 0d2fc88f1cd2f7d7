"""Jobs on nodes of this machine under epoprm, by bench/sites.py: any programs, and at which sizes they were when."""
import re

import sites


class Nodes(sites.Local):
    """jobs: dicts of name, ranks ("1-4"), words (program and arguments), submit (seconds) and time (a limit)."""

    def __init__(self, policy, count):
        super().__init__(policy, ("--local", str(count)))

    def submit(self, job, malleable):
        program, *words = job["words"]
        ranks = job["ranks"] if malleable else job["ranks"].rpartition("-")[2]
        self.command("submit", "--ranks", ranks, "--time", job.get("time", "120s"), "--name", job["name"], "-o", self.directory / f"out.{job['name']}", "--",
                     program, *words)

    def record(self, job, submitted, row):
        stays = self.rows(f"SELECT begin, end, nodes FROM stay WHERE job = {row['number']} ORDER BY begin")
        text = (self.directory / f"out.{job['name']}").read_text()
        return {"name": job["name"], "submit": submitted, "start": row["started"], "end": row["ended"], "done": row["state"] == "done", "text": text,
                "stays": [{"begin": stay["begin"], "end": stay["end"], "nodes": numbers(stay["nodes"])} for stay in stays]}


def numbers(names):
    """Of "local3,local4", in their order."""
    return [int(number) for number in re.findall(r"\d+", names)]


def program(name, *words):
    """A program of programs/ or examples/."""
    folder = "examples" if (sites.BUILD / "lib/epop/examples" / f"{name}.so").exists() else "programs"
    return [sites.BUILD / f"lib/epop/{folder}/{name}.so", *words]


def synthetic(name, nodes, seconds, least, most, submit=0):
    """One whose iterations of a tenth of a second at the wanted nodes speed up well."""
    iterations = max(1, round(10 * seconds))
    return {"name": name, "ranks": f"{least}-{most}" if most > least else str(most), "submit": submit,
            "words": program("synthetic", "mib=1", "phase=work", f"iterations={iterations}", f"seconds={0.1 * nodes}", "speedup=linear", "mtct=0.001")}


def is_right(text):
    """What programs/synthetic says of its data and its work at the end."""
    found = sites.END.search(text)
    return bool(found) and found[1] == found[2] and found[3] == found[4]
