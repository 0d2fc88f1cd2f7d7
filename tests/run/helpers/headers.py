"""What the public headers declare, read off their text: for the tests that compare it with symbols and documentation."""

import re

import job

PUBLIC = sorted((job.ROOT / "epop_api/epop").glob("*.h"))


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def one_line(declaration):
    """With one space between words and none beside punctuation, without what is of no interest to a reader."""
    text = re.sub(r"\bEPOP_(?:API|EXPORT|HOST)\b|\bextern\b(?!\s*\")|__attribute__\(\(format\([^)]*\)\)\)", " ", declaration)
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([^\w\s])\s*", r"\1", text)


def macros(text):
    """The #define lines but include guards, without their values: NAME or NAME(arguments)."""
    found = re.findall(r"^\s*#\s*define\s+(\w+(?:\([^)]*\))?)", without_comments(text), flags=re.M)
    return {name for name in found if not re.fullmatch(r"EPOP_\w+_H|EPOP_(?:API|EXPORT|HOST)", name)}


def declarations(text):
    """Functions, types and structures, each as one line."""
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments(text), flags=re.M)
    text = re.sub(r'extern\s+"C"\s*{', "", text)
    text = re.sub(r"(static inline [^;{]*\))\n\{\n.*?^\}", r"\1;", text, flags=re.M | re.S)
    found, depth, start = set(), 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            found.add(one_line(text[start:place]))
            start = place + 1
        elif depth < 0:  # the end of extern "C"
            depth, start = 0, place + 1
    return found - {""}


def functions(marker="EPOP_API"):
    """The names of the functions that carry the marker, in all public headers."""
    text = "\n".join(without_comments(path.read_text()) for path in PUBLIC if path.name != "visibility.h")
    return set(re.findall(rf"^\s*{marker}\b[^;(]*?\b(\w+)\s*\(", text, flags=re.M))


def names():
    """Every function, type, constant and macro that a program may use."""
    found = functions() | functions("EPOP_EXPORT") | functions("EPOP_HOST") | functions("static inline")
    for path in PUBLIC:
        found |= {name.split("(")[0] for name in macros(path.read_text())}
        for declaration in declarations(path.read_text()):
            if declaration.startswith("typedef"):
                found.add(re.search(r"(\w+)(?:\)\([^()]*\))?$", declaration).group(1))  # of functions: (*name)(...)
            enumerators = re.match(r"typedef enum \w*{(.*)}", declaration)
            if enumerators:
                found |= {word.split("=")[0] for word in enumerators.group(1).split(",") if word}
    return found
