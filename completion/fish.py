"""The completion of fish: a `complete` for each option."""

from template import fill, function

SCRIPT = r"""# Completion of @PROGRAM@ for fish, made from its --help.
@END@
@COMPLETE@
"""

END = r"""function @FUNCTION@_options_end -d 'Is there a word behind which options are those of another program?'
    set -l words (commandline -opc)
    set -e words[1..@BEGIN@]
    set -l is_value no
    for word in $words
        if test $is_value = yes
            set is_value no
        else if contains -- $word @TAKING@
            set is_value yes
        else if not string match -q -- '-*' $word
            return 0
        end
    end
    return 1
end"""


def quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", r"\'") + "'"


def choice(value):
    """What it may be, after -a."""
    if value.words:
        return f"(__fish_append , {' '.join(value.words)})" if value.several else " ".join(value.words)
    if value.place == "folders":
        return "(__fish_complete_directories)"
    return value.place and f"({value.place} 2>/dev/null | tail -n +2 | string replace -r '\\s.*' '')"


def completed(value, instead):
    """The flags for a value: with it come files, or what there is `instead`."""
    if value and value.place == "files":
        return "-F"
    return f"{instead} -a {quote(choice(value))}" if value and choice(value) else instead


def flags(option):
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    needed = ["-r"] if option.value and not option.value.optional else []
    return [*names, *needed, completed(option.value, "-f"), "-d", quote(option.text)]


def condition(*parts):
    parts = [part for part in parts if part]
    return ["-n", quote("; and ".join(parts))] if parts else []


def lines(program, command):
    here = f"__fish_seen_subcommand_from {command.name}" if command.name else ""
    before = f"not _{function(program)}_options_end" if command.ends else ""
    if command.name:
        yield ["-n __fish_use_subcommand -f -a", command.name, "-d", quote(command.text)]
    yield [*condition(here), completed(command.word, "-f")]
    for option in command.options:
        driver = f"string match -qr -- '--driver[ =][^ ]*{option.driver}' (commandline -pc)" if option.driver else ""
        yield [*condition(here, before, driver), *flags(option)]


def script(program, commands):
    taking = [name for command in commands if command.ends for option in command.options if option.value for name in option.names]
    end = fill(END, function="_" + function(program), begin="2" if commands[0].name else "1", taking=" ".join(taking)) if taking else ""
    return fill(SCRIPT, program=program, end=end,
                complete=[f"complete -c {program} {' '.join(line)}" for command in commands for line in lines(program, command)])
