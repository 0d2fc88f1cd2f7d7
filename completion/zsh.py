"""The completion of zsh: arguments for its _arguments."""

import re

from template import fill, function, quote

SCRIPT = r"""#compdef @PROGRAM@
# Completion of @PROGRAM@ for zsh, made from its --help.
local -a arguments
@LISTED@
@COMMANDS@
case $words[1] in
    @ARGUMENTS@
esac
_arguments -S $arguments
"""

LISTED = r"""
# What a command prints in its first column.
@FUNCTION@_listed()
{
    local -a rows
    rows=(${(f)"$(_call_program listed $* 2>/dev/null)"})
    compadd -- ${rows[2,-1]%%[[:space:]]*}
}"""

COMMANDS = r"""
local -a commands
local line state curcontext=$curcontext
_arguments -C -A '-*' '1:command:->command' '*::word:->word'
if [[ $state == command ]]; then
    commands=(
        @COMMANDS@
    )
    _describe command commands
    return
fi
"""


def escaped(text, marks):
    return re.sub(f"([{re.escape(marks)}])", r"\\\1", text)


def action(program, value):
    """What completes the value."""
    if value.words:
        return f"_values -s , {value.name.lower().rstrip(',.')} {' '.join(value.words)}" if value.several else f"({' '.join(value.words)})"
    return {"": " ", "files": "_files", "folders": "_files -/"}.get(value.place, f" {function(program)}_listed {value.place}")


def with_value(program, value):
    return f":{escaped(value.name, ':')}:{action(program, value)}"


def specifications(program, option):
    """One for each name of the option, as it may be given by one of them."""
    excluded = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
    for name in option.names:
        equals = "=" if option.value and name.startswith("--") else ""
        equals += "-" if option.value and option.value.optional else ""
        value = (":" if option.value.optional else "") + with_value(program, option.value) if option.value else ""
        yield quote(f"{excluded}{name}{equals}[{escaped(option.text, '[]')}]{value}")


def rows(program, command):
    """The command's case."""
    yield f"{command.name or program})"
    yield "    arguments=("
    if command.ends:
        yield "        -A '-*'"
    if command.word:
        yield "        " + quote("*" + with_value(program, command.word))
    for option in command.options:
        if not option.driver:
            yield from (f"        {text}" for text in specifications(program, option))
    yield "    )"
    for option in command.options:
        if option.driver:
            more = " ".join(specifications(program, option))
            yield f"    [[ \"$words\" =~ '--driver[ =][^ ]*{option.driver}' ]] && arguments+=({more})"
    yield "    ;;"


def script(program, commands):
    listed = [quote(f"{command.name}:{escaped(command.text, ':')}") for command in commands if command.name]
    asks = any(command.word and " " in command.word.place for command in commands)
    return fill(SCRIPT, program=program, listed=fill(LISTED, function=function(program)) if asks else "",
                commands=fill(COMMANDS, commands=listed) if listed else "",
                arguments=[row for command in commands for row in rows(program, command)])
