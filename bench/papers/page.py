"""What docs/internals/papers.md says of each paper: its items with the figures side by side, and which claims agree."""
import re
import textwrap

import keeping
from papers import judge
from studies import table

PAGE = keeping.ROOT / "docs/internals/papers.md"
WORDS = {True: "yes", False: "**no**"}


def wrapped(words, indent=""):
    return textwrap.fill(words, 110, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def finding(found):
    return "" if found is None else f"{'yes' if found.holds else 'no'}: {found.text}" if found.text else "yes" if found.holds else "no"


def claims(item, ours):
    """A table of them, and why some do not agree; nothing if the item has none."""
    judgements = judge(item, ours)
    rows = [[each.claim.text, finding(each.theirs), finding(each.ours), WORDS.get(each.agrees, "no such case" if ours else "not measured")] for each in judgements]
    why = [wrapped(f"- {each.claim.text}: {each.why or 'the reason is not known.'}", "  ") for each in judgements if each.agrees is False]
    return [table(["claim", "paper", "here", "agrees"], rows)] * bool(rows) + ["\n".join(why)] * bool(why)


def figures(item, ours):
    heads, rows = item.table(item.theirs, ours)
    return [table(heads, rows)] if rows else []


def has_all(item, rows):
    return set(item.needs) <= {row["item"] for row in rows}


def ours_of(item, rows):
    """Those from here that an item shows: nothing before all that it needs was measured."""
    return [row for row in rows if row["item"] in item.needs] if has_all(item, rows) else []


def section(item, rows):
    ours = ours_of(item, rows)
    note = [] if ours or not item.needs else ["Not measured here yet."]
    return "\n\n".join([f"### {item.title}", wrapped(f"{item.of}. {item.text}"), *figures(item, ours), *note, *claims(item, ours)])


def measured(origins):
    """Where and when, each once."""
    places = dict.fromkeys(f"{origin.get('machine')}, {origin.get('mpi')}, {origin.get('date')}" for origin in origins.values())
    return wrapped(f"Measured on: {'; '.join(places)}.") + "\n\n" if places else ""


def text(paper, origins, rows):
    return measured(origins) + "\n\n".join(section(item, rows) for item in paper.items) + "\n"


def changed(page, made):
    """The page with the texts of papers, {name: text}, between `<!-- paper: NAME -->` and `<!-- end -->`."""
    def renewed(found):
        return f"{found[1]}{made[found[2]]}\n{found[4]}" if found[2] in made else found[0]

    return re.sub(r"^(<!-- paper: (\w+) -->\n\n)(.*?)^(<!-- end -->)$", renewed, page, flags=re.M | re.S)
