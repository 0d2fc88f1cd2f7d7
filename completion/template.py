"""Scripts with gaps."""

import re


def fill(template, **parts):
    """With its part in the place of each @NAME@: a text, or lines, which are indented as the first of them is."""
    def part(match):
        found = parts[match[2].lower()]
        return match[1] + (found if isinstance(found, str) else ("\n" + match[1]).join(found))
    return re.sub(r"((?:^ *)?)@([A-Z]+)@", part, template, flags=re.M)


def function(program):
    """A name for the program's functions."""
    return "_" + program.replace("-", "_")


def quote(text):
    """For bash and zsh."""
    return "'" + text.replace("'", r"'\''") + "'"
