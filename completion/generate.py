"""Writes a program's completion for bash, zsh and fish, each where that shell looks for it below share/: generate.py PROGRAM SHARE."""

import pathlib
import sys

import bash
import fish
import helps
import zsh

PLACES = [(bash, "bash-completion/completions/{}"), (zsh, "zsh/site-functions/_{}"), (fish, "fish/vendor_completions.d/{}.fish")]


def main(program, share):
    commands = helps.Helps(program.parent).commands(program.name)
    if not all(command.options or command.word for command in commands):
        sys.exit(f"{program} --help has a command without options")
    for shell, place in PLACES:
        path = share / place.format(program.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shell.script(program.name, commands))


main(*map(pathlib.Path, sys.argv[1:]))
