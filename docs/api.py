"""Writes the API reference from the comments of the public headers (epop_api/epop/*.h), so that nothing is said twice:

    /usr/bin/python3 docs/api.py            the page docs/reference/api.md; a test compares it
    /usr/bin/python3 docs/api.py FOLDER     man pages of section 3: one for each header, and a link for each function

How a header is read:

- Its first comment is "Title: purpose." and further text. That of epop.h is the introduction of the page.
- A line `/* ---- Title --- */` begins a part.
- A comment belongs to the declarations after it, up to the next comment; one before a blank line is text of its own.
- Comments inside a structure, or after a declaration on the same line, stay where they are.

In a comment there are paragraphs, lists ("- "), and `code`. Names of EPOP and MPI are code without these marks.
"""

import collections
import itertools
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "epop_api/epop"
PAGE = ROOT / "docs/reference/api.md"
WIDTH = 110

Header = collections.namedtuple("Header", "name title purpose text parts needs_mpi")
Part = collections.namedtuple("Part", "title members")  # members: text, as blocks, and groups
Group = collections.namedtuple("Group", "declarations text")
Items = collections.namedtuple("Items", "texts")  # a list; a paragraph is a string


# ---- Comments -----------------------------------------------------------------------------------

def without_marks(comment):
    """The lines of a comment, without what makes it one."""
    lines = re.sub(r"^/\*|\*/$", "", comment.strip()).splitlines()
    return [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines]


def blocks(comment):
    """Its paragraphs and lists."""
    found = []
    for chunk in re.split(r"\n\s*\n", "\n".join(without_marks(comment)).strip()):
        first, *items = re.split(r"^- ", chunk, flags=re.M)
        found += [" ".join(first.split())] if first.strip() else []
        found += [Items([" ".join(item.split()) for item in items])] if items else []
    return found


NAMES = r"(?<![\w/.`])(?:<epop/\w+\.h>|mpi://\w+|(?:epop|EPOP|MPIX?|mpi)_\w+(?:\(\))?|NULL|(?:malloc|free)\(\)|exit\(0\))"


def spans(text):
    """[(is it code, text)]: names are, also where they are not marked."""
    for number, piece in enumerate(text.split("`")):
        if number % 2:
            yield True, piece
            continue
        at = 0
        for name in re.finditer(NAMES, piece):
            yield False, piece[at:name.start()]
            yield True, name.group()
            at = name.end()
        yield False, piece[at:]


# ---- Headers ------------------------------------------------------------------------------------

def statement_end(text, at):
    """Behind the declaration that begins there: its semicolon, or the brace that closes a function."""
    depth = 0
    for place, letter in enumerate(without_inner_comments(text[at:]), at):
        depth += (letter == "{") - (letter == "}")
        if depth == 0 and (letter == ";" or (letter == "}" and text.startswith("static inline", at))):
            return place + 1
    raise ValueError(f"a declaration without an end: {text[at:at + 80]}")


def without_inner_comments(text):
    """As long as it was."""
    return re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment.group()), text, flags=re.S)


def as_shown(declaration):
    """Without what concerns the linker and the compiler alone; of a function its head."""
    text = re.sub(r"\s*__attribute__\(\(format\([^)]*\)\)\)", "", declaration)
    text = re.sub(r"^(static inline [^{]*?)\s*\{.*", r"\1;", text, flags=re.S)
    marker = re.match(r"EPOP_(?:API|EXPORT|HOST) ", text)
    return re.sub(rf"^ {{{marker.end()}}}", "", text[marker.end():], flags=re.M) if marker else text


SKIPPED = r'#ifdef __cplusplus\n.*?#endif\n|#(?:include|pragma|if|ifdef|ifndef|elif|else|endif)\b[^\n]*\n|#define EPOP_\w+_H\n'


def tokens(text):
    """("comment", "alone" where a blank line follows, or "declaration"; text) in their order."""
    text = re.sub(SKIPPED, "", text, flags=re.S)
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield "alone" if re.match(r"\n\s*(?:\n|$|/\*)", text[end:]) else "comment", text[at:end]
        else:
            end = text.index("\n", at if text[at] == "#" else statement_end(text, at))
            yield "declaration", as_shown(text[at:end])
        at = end


def parts(stream):
    """What comes after the first comment."""
    found = [Part("", [])]
    for kind, text in stream:
        title = re.match(r"/\* -+ (.*?) -+ \*/$", text)
        if title:
            found.append(Part(title.group(1), []))
        elif kind == "alone":
            found[-1].members.extend(blocks(text))
        elif kind == "comment":
            found[-1].members.append(Group([], blocks(text)))
        else:
            group_for(found[-1].members).declarations.append(text)
    return [part for part in found if part.members]


def group_for(members):
    """The group that a declaration belongs to."""
    if not members or not isinstance(members[-1], Group):
        members.append(Group([], []))
    return members[-1]


def included(name):
    """The headers of EPOP that it includes, directly."""
    return re.findall(r"#include <epop/(\w+)\.h>", (HEADERS / f"{name}.h").read_text())


def in_order(name, found):
    """Those that it includes before it, as the compiler meets them."""
    for other in included(name):
        if other not in found:
            in_order(other, found)
    found.append(name)
    return found


def needs_mpi(name):
    return any("#include <mpi.h>" in (HEADERS / f"{other}.h").read_text() for other in in_order(name, []))


def read(name):
    stream = tokens((HEADERS / f"{name}.h").read_text())
    first, *rest = blocks(next(stream)[1])
    title, said = first.split(": ", 1)
    purpose, _, more = said.partition(". ")
    return Header(name, title, purpose.rstrip("."), [*([more] if more else []), *rest], parts(stream), needs_mpi(name))


def headers():
    """All: first what epop.h has, in the order of its parts."""
    first = in_order("epop", [])
    names = [name for name in first if name != "visibility"] + sorted(path.stem for path in HEADERS.glob("*.h") if path.stem not in first)
    return [read(name) for name in [*names, "visibility"]]


# ---- Declarations -------------------------------------------------------------------------------

def is_function(declaration):
    return not declaration.startswith(("#", "typedef"))


def name_of(declaration):
    """What it declares: a macro, a type of functions, another type, or a function."""
    text = without_inner_comments(declaration).strip()
    patterns = [r"#define (\w+)", r"typedef \w+ ?\(\*?(\w+)\)\(", r"typedef .*?(\w+);$", r"(?!typedef)[^(]*\b(\w+)\("]
    return next(found.group(1) for found in (re.match(pattern, text, flags=re.S) for pattern in patterns) if found)


def functions(header):
    return [declaration for part in header.parts for group in part.members if isinstance(group, Group)
            for declaration in group.declarations if is_function(declaration)]


def arguments(declaration):
    """Of a function, each as it is declared."""
    text = " ".join(declaration.rstrip(";").split())
    inside, depth, found = text[text.index("(") + 1:-1], 0, [""]
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [argument.strip() for argument in found]


def result_of(declaration):
    return " ".join(declaration[:declaration.index(name_of(declaration) + "(")].split())


# ---- The page -----------------------------------------------------------------------------------

def link(match):
    folder, name = match.group(1), match.group(2)
    return f"[{name}.md]({name}.md)" if folder == "reference" else f"[{name}.md](../{folder}/{name}.md)"


def markdown(text):
    """One paragraph, with its names as code and other pages as links."""
    return "".join(f"`{piece}`" if code else re.sub(r"docs/(\w+)/(\w+)\.md", link, piece) for code, piece in spans(text))


def filled(text, width, first="", other=""):
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=other, break_long_words=False, break_on_hyphens=False)


def block_on_page(block):
    if isinstance(block, Items):
        return "\n".join(filled(markdown(item), WIDTH, "- ", "  ") for item in block.texts)
    return filled(markdown(block), WIDTH)


def group_on_page(group):
    """Its heading is the first name; the other functions have anchors."""
    first, *others = [name_of(declaration) for declaration in group.declarations]
    anchors = "".join(f'<a id="{name_of(each)}"></a>\n' for each in group.declarations if is_function(each) and name_of(each) in others)
    yield f"#### {first}\n" + (f"\n{anchors}" if anchors else "")
    yield "```c\n" + "\n".join(group.declarations) + "\n```\n"
    yield from (block_on_page(block) + "\n" for block in group.text)


def header_on_page(header):
    yield f"## {header.title}\n"
    yield f"`#include <epop/{header.name}.h>`\n"
    yield from (block_on_page(block) + "\n" for block in header.text)
    for part in header.parts:
        if part.title:
            yield f"### {part.title}\n"
        for member in part.members:
            yield from group_on_page(member) if isinstance(member, Group) else [block_on_page(member) + "\n"]


def anchor(title):
    """GitHub's."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def row(header):
    what = f"[{header.title}](#{anchor(header.title)})" if header.parts else header.title
    return f"| `<epop/{header.name}.h>` | {what}: {markdown(header.purpose)} | {'yes' if header.needs_mpi else 'no'} |"


def page():
    """The whole of it."""
    every = headers()
    intro = next(header for header in every if header.name == "epop")
    texts = ["# API reference\n", "<!-- Written by docs/api.py from the headers: change these. -->\n",
             "\n".join(["| header | what | needs MPI |", "|---|---|---|", *map(row, every)]) + "\n",
             *(block_on_page(block) + "\n" for block in intro.text)]
    for header in every:
        if header.parts:
            texts += header_on_page(header)
    return "\n".join(texts)


# ---- Man pages ----------------------------------------------------------------------------------

def man_name(header):
    """Not epop_redist, which is a function."""
    return "epop_h" if header.name == "epop" else f"epop_{header.name}_h"


def escaped(text):
    return text.replace("\\", r"\e").replace("-", r"\-")


def roff(text):
    """One paragraph: each sentence begins a line, and code is bold."""
    whole = "".join(rf"\fB{escaped(piece)}\fP" if code else escaped(piece) for code, piece in spans(text))
    sentences = re.split(r"(?<!\b[A-Z]\.)(?<=[.!?:])\s+", whole)  # but not at an initial
    lines = "\n".join(filled(sentence, 78) for sentence in sentences).splitlines()
    return "\n".join(r"\&" + line if line[0] in ".'" else line for line in lines)


def block_in_man(block):
    if isinstance(block, Items):
        return ".Bl -bullet -compact\n" + "\n".join(".It\n" + roff(item) for item in block.texts) + "\n.El"
    return roff(block)


def text_in_man(texts):
    return "\n.Pp\n".join(map(block_in_man, texts))


def prototype(declaration):
    """In the synopsis."""
    yield f".Ft {result_of(declaration)}"
    yield f".Fo {name_of(declaration)}"
    yield from (f'.Fa "{argument}"' for argument in arguments(declaration))
    yield ".Fc"


def tag(group):
    names = [name_of(declaration) for declaration in group.declarations if is_function(declaration)]
    if not names:
        return f".It Vt {name_of(group.declarations[0])}"
    return ".It Fn " + " , Fn ".join(names)


def group_in_man(group):
    yield tag(group)
    shown = [declaration for declaration in group.declarations if not is_function(declaration)]
    if shown:
        yield ".Bd -literal -compact\n" + escaped("\n".join(shown)) + "\n.Ed"
    if group.text:
        yield text_in_man(group.text)


def members_in_man(members):
    """Texts, and groups as items of a list."""
    for are_groups, those in itertools.groupby(members, lambda member: isinstance(member, Group)):
        if are_groups:
            yield "\n".join([".Bl -tag -width Ds", *(line for group in those for line in group_in_man(group)), ".El"])
        else:
            yield text_in_man(those)


def date():
    """That of the other man pages."""
    return re.search(r"^\.Dd (.*)$", (ROOT / "docs/man/epop.1").read_text(), flags=re.M).group(1)


def references(header, every):
    others = every if header.name == "epop" else [other for other in every if other.name == "epop"]
    names = ["epop 1"] + sorted(f"{man_name(other)} 3" for other in others if other != header)
    return " ,\n".join(f".Xr {name}" for name in names)


def man(header, every):
    """The page of one header."""
    declared = functions(header)
    names = [man_name(header), *map(name_of, declared)]
    lines = [f".Dd {date()}", f".Dt {man_name(header).upper()} 3", ".Os", ".Sh NAME",
             " ,\n".join(f".Nm {name}" for name in names), f".Nd {header.title[0].lower()}{header.title[1:]}",
             ".Sh SYNOPSIS", f".In epop/{header.name}.h", *(line for each in declared for line in prototype(each)),
             ".Sh DESCRIPTION", text_in_man([f"{header.title}: {header.purpose}.", *header.text])]
    for part in header.parts:
        lines += [f".Ss {part.title}"] if part.title else []
        lines += members_in_man(part.members)
    return "\n".join([*lines, ".Sh SEE ALSO", references(header, every), ""])


def man_pages():
    """{name of the file: text}."""
    every, found = headers(), {}
    for header in every:
        found[f"{man_name(header)}.3"] = man(header, every)
        found |= {f"{name_of(each)}.3": f".so man3/{man_name(header)}.3\n" for each in functions(header)}
    return found


def main(folder=None):
    if not folder:
        PAGE.write_text(page())
        return
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in man_pages().items():
        (pathlib.Path(folder) / name).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
