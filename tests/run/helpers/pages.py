"""Documentation that is executed: reads the code blocks of a page and does what stands in them.

A comment on the line before a block says what to do with it:

    <!-- file: NAME -->       C: a complete source file, compiled; Fortran, Python, ini: one that a command of the page reads
    <!-- into NAME -->        C: functions that replace those of the same name in it, or are added; compiled
    <!-- wrong in NAME -->    C: likewise in a copy, which is resized once; the text block behind is how its job ends
    <!-- compiles -->         C: a part that compiles by itself
    <!-- of FILE -->          C: parts of this file of the tree, each until an empty line, in their order
    <!-- run -->              shell: its commands are run; the text block behind stands in their output

A number that begins with 1234, or ends with .123456, stands for any number.
"""

import functools
import re
import shlex
import subprocess

import job

WARNINGS = ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wpedantic", "-Werror"]  # a block has those it has
FUNCTION = re.compile(r"^\w[^\n;]*?\b(\w+)\([^;{]*\)\n\{\n.*?^\}\n", flags=re.M | re.S)
LIMIT = 300  # seconds for all of a page
FRAGMENT_START = "#include <epop/driver.h>\n#include <epop/epop.h>\n#include <stdlib.h>\n#include <string.h>\n"


class Block:
    """One code block of a page."""

    def __init__(self, page, line, marker, language, text):
        self.where, self.marker, self.language, self.text = f"{page.name}:{line}", marker, language, text


def blocks(page):
    """All code blocks of a page, in order."""
    found, marker, lines = [], "", page.read_text().splitlines()
    number = 0
    while number < len(lines):
        fence = re.match(r"```(\w*)$", lines[number])
        comment = re.match(r"<!-- (.*) -->$", lines[number])
        if fence:
            end = lines.index("```", number + 1)
            text = "\n".join(lines[number + 1:end]) + "\n"
            found.append(Block(page, number + 1, marker, fence.group(1), text))
            number = end
        marker = comment.group(1) if comment else ""
        number += 1
    return found


def merge(source, addition):
    """The source with the functions of `addition`: in the place of those of the same name, else before the last."""
    for match in FUNCTION.finditer(addition):
        present = [old for old in FUNCTION.finditer(source) if old.group(1) == match.group(1)]
        place = present[0] if present else list(FUNCTION.finditer(source))[-1]
        after = source[place.end():] if present else "\n" + source[place.start():]
        source = source[:place.start()] + match.group(0) + after
    return source


def pattern(line):
    """What a line of documented output must look like in real output, spaces aside."""
    text = re.escape(" ".join(line.split()))
    text = re.sub(r"\d+\\\.123456\b", r"[\\d.]+", text)
    text = re.sub(r"rank\\ \d+\\ of\\ \d+", r"rank \\d+ of \\d+", text)  # whoever is heard first
    return re.sub(r"\b1234\d*\b", r"\\d+", text)


def expect(block, output):
    """Every line of the block stands in the output."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    for line in block.text.splitlines():
        assert any(re.search(pattern(line), real) for real in lines), f"{block.where}: not in the output: {line}\n{output}"


class Shell:
    """One shell, into which blocks are pasted as they stand."""

    LOOP = "trap 'echo \"status $? of: $BASH_COMMAND\" >&2' ERR; while read -r block; do source $block < /dev/null; done"

    def __init__(self, space, env):
        self.space, self.pasted, self.seen = space, 0, {"out": 0, "err": 0}
        self.bash = space.start(["bash", "-c", self.LOOP], env=env, stdin=subprocess.PIPE, limit=LIMIT)

    def paste(self, text):
        """What was printed until its last command had ended, on both streams."""
        self.pasted += 1
        (self.space.directory / f"block-{self.pasted}.sh").write_text(f"{text}echo pasted {self.pasted} | tee /dev/stderr\n")
        self.bash.stdin.write(f"./block-{self.pasted}.sh\n")
        self.bash.stdin.flush()
        return "".join(self.news(stream) for stream in ("out", "err"))

    def news(self, stream):
        start = self.seen[stream]
        _, self.seen[stream] = self.bash.wait_for_line(f"^pasted {self.pasted}$", LIMIT, stream, start)
        return "".join(getattr(self.bash, stream).splitlines(True)[start:self.seen[stream] - 1])

    @staticmethod
    def failed(output, text):
        """What ended so, without those whose status the text shows."""
        return [line for line in re.findall(r"^status \d+ of: .*$", output, flags=re.M) if line.partition(": ")[2] + "; echo" not in text]

    def close(self):
        self.bash.stdin.close()
        result = self.bash.wait()
        assert result.status == 0, result


class Runner:
    """Does what the blocks of one page say, in a directory of its own, with an installed epop."""

    def __init__(self, space, tree):
        self.space, self.jobs = space, 0  # that run in the background
        self.output = ""  # of the last block
        self.env = {"PATH": f"{tree}/bin:/usr/local/bin:/usr/bin:/bin", "PKG_CONFIG_PATH": f"{tree}/lib/pkgconfig",
                    "EPOPRM_DIR": f"{space.runtime}/epoprm"}

    @functools.cached_property
    def pasting(self):
        return Shell(self.space, self.env)

    @property
    def transcript(self):
        return self.pasting.bash.out

    def run(self, page):
        for block, following in zip(blocks(page), blocks(page)[1:] + [None]):
            self.do(block)
            if following and following.language == "text" and block.marker.startswith(("run", "wrong")):
                expect(following, self.output)
        assert self.jobs == 0, f"{page.name}: a job is left running"
        self.pasting.close()

    def do(self, block):
        kind, _, name = block.marker.partition(" ")
        if block.language == "c":
            actions = {"file:": self.file, "into": self.into, "wrong": self.wrong, "compiles": self.compiles, "of": self.of}
            assert kind in actions, f"{block.where}: nothing says how to test this C block"
            actions[kind](block, name.split()[-1] if name else "")
        elif block.language in ("fortran", "cpp", "ini", "python") and kind == "file:":
            (self.space.directory / name).write_text(block.text)
        elif block.marker == "run":
            self.commands(block)
        elif block.language == "sh":
            assert self.shell(["bash", "-n", "-c", block.text]).status == 0, block.where

    # ---- C ----

    def file(self, block, name):
        (self.space.directory / name).write_text(block.text)
        self.compile(block, name)

    def into(self, block, name):
        path = self.space.directory / name
        path.write_text(merge(path.read_text(), block.text))
        self.compile(block, name)

    def compiles(self, block, _):
        (self.space.directory / "part.c").write_text(FRAGMENT_START + block.text)
        self.compile(block, "part.c", "-Wno-unused-function")

    @staticmethod
    def of(block, name):
        source, end = (job.ROOT / name).read_text(), 0
        for part in re.split(r"\n\n", block.text.rstrip("\n")):
            end = source.find(f"{part}\n", end) + 1
            assert end > 0, f"{block.where}: not in {name}, or not behind the part before:\n{part}"

    def compile(self, block, name, *flags):
        """With all warnings, beside what the page says itself."""
        includes = shlex.split(self.shell(["pkg-config", "--cflags", "epop"]).out)
        result = self.shell(["mpicc.mpich", *WARNINGS, *flags, *includes, "-O2", "-fsyntax-only", name])
        assert result.status == 0, f"{block.where}\n{result}"

    def wrong(self, block, name):
        """The mistake as it is made: its job cannot be resized, and goes on."""
        source = (self.space.directory / name).read_text()
        (self.space.directory / "wrong.c").write_text(merge(source, block.text))
        self.compile(block, "wrong.c")
        self.output = self.pasting.paste("mpicc.mpich -O2 -shared -fPIC wrong.c -o wrong.so $(pkg-config --cflags --libs epop)\n"
                                          "mpiexec.mpich -n 2 epop --start 1 ./wrong.so 1000 100000000 &\n"
                                          "epopctl status --wait\nepopctl resize 2 --wait\nepopctl stop\nwait $!\n")
        assert self.pasting.failed(self.output, "") == ["status 1 of: epopctl resize 2 --wait"], self.output

    # ---- Shell ----

    def shell(self, command):
        return self.space.start(command, env=self.env).wait()

    def commands(self, block):
        """As a user pastes them. A job that is told to stop ends, and what it says belongs to the output."""
        stops = "epopctl stop" in block.text
        self.jobs += len(re.findall(r" &$", block.text, flags=re.M)) - stops
        self.output = self.pasting.paste(block.text + ("wait $!\n" if stops else ""))
        assert not self.pasting.failed(self.output, block.text), f"{block.where}\n{self.output}"
