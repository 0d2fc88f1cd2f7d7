"""What can be completed on a program's command line, read from its --help, which it prints from the tables by which it reads its options.

An option's line is "  -o, --output FILE   what it does", and the word behind its name says what its value is: words with bars between them
are all that there are; FILE and some others are files; for NAME the help has a list, as "Drivers:" for --driver; behind ",..." more may
follow with commas between them.
"""

import dataclasses
import re
import subprocess

OPTION = re.compile(r" +(?:-(\w), )?--([\w-]+)(?:\[=(\w+)\])?(?: (\S+))? +(\S.*)")
ROW = re.compile(r"^  ([a-z]+)  +(.*)$", flags=re.M)
FILES = {"FILE": "files", "PATH": "files", "PROGRAM": "files", "PROFILE": "files", "WORKLOAD": "files", "DIR": "folders"}
# Where a word is no option: the command that has what it may be in the first column of what it prints.
LISTED = {("epopctl", "JOB"): "epopctl list", ("epoprm", "JOB"): "epoprm queue", ("epoprm", "NODE"): "epoprm nodes"}


@dataclasses.dataclass
class Value:
    """One of `words`, or what `place` says: "files", "folders", or a command that lists them; neither: anything."""
    name: str
    words: list
    place: str = ""
    several: bool = False  # with commas between them
    optional: bool = False  # only behind "="


@dataclasses.dataclass
class Option:
    """What begins with dashes. That of a driver is only known behind --driver with its name."""
    names: list
    text: str
    value: Value = None
    driver: str = ""


@dataclasses.dataclass
class Command:
    """What stands behind the program's name: a command, or with the name "" all of it."""
    name: str
    text: str
    options: list
    word: Value  # what is no option; None: nothing that is known
    ends: bool  # behind that options are another program's


class Helps:
    """The programs of a folder, which are asked for theirs."""

    def __init__(self, folder):
        self.folder = folder

    def ask(self, program, *arguments):
        """Without what a launcher says in the environment: of several processes only the first one prints its help."""
        return subprocess.run([self.folder / program, *arguments], env={"LC_ALL": "C"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, check=True, timeout=60).stdout

    def commands(self, program):
        """What the program has as a list of Commands; of one without a name where it has none."""
        text = self.ask(program, "--help")
        if "Usage: " + program + " COMMAND" not in text:
            drivers = ",".join(self.listed_names("driver", text))
            return [self.command(program, "", "", self.ask(program, "--help", "--driver", drivers) if drivers else text)]
        option, tells = re.search(r"COMMAND (--\w+) (tells more of a command)", text).groups()
        about = Option([option], tells)
        return [self.command(program, name, what, self.ask(program, name, "--help"), about) for name, what in ROW.findall(text)]

    def command(self, program, name, text, shown, *others):
        usage = re.sub(r"--?\w[\w-]* \S+", "", shown.splitlines()[0])
        word = re.search(r" \[?(" + "|".join([*FILES, "JOB", "NODE"]) + r")\b", usage)
        place = word and (FILES.get(word[1]) or LISTED[program, word[1]])
        return Command(name, text, [*self.options(shown), *others], Value(word[1], [], place) if word else None, "rguments" in usage.lower())

    def options(self, text):
        driver = ""
        for line in text.splitlines():
            section = re.match(r"Options of the driver '(\w+)'", line)
            driver = section[1] if section else driver
            if option := OPTION.fullmatch(line):
                letter, name, maybe, value, what = option.groups()
                names = [f"--{name}", *([f"-{letter}"] if letter else [])]
                yield Option(names, what.rstrip(";"), self.value(name, maybe or value, text, bool(maybe)), driver)

    def value(self, option, name, text, optional):
        if not name:
            return None
        words = name.split("|") if name.islower() else self.listed_names(option, text)
        return Value(name, words, FILES.get(name, ""), name.endswith(",..."), optional)

    def listed_names(self, option, text):
        """What the option takes, from a list in the help: rows below "Drivers:", or words behind "Charts:". Policies are listed by epopsim."""
        if option == "policy":
            return re.findall(r"^(\w+)  ", self.ask("epopsim", "--list-policies"), flags=re.M)
        rows, words = re.search(rf"^{option.capitalize()}s:(?:\n((?:  .*\n)*)| (.*\n(?:Of .*\n)+))|\Z", text, flags=re.M).groups()
        return [name for name, _ in ROW.findall(rows or "")] or re.findall(r"(\w+)(?: \([^)]*\))?[,.]", words or "")
