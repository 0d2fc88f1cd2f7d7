"""What is written from the table of messages (runtime/wire/messages.def): the part of schema/control.schema.json that
describes requests and messages, and the tables of requests and events in docs/reference/control.md. Tests compare; to write
both anew:

    make build/tests/helpers/wire_table && /usr/bin/python3 tests/run/helpers/messages.py
"""

import json
import subprocess

import job

TABLE = job.BUILD / "tests/helpers/wire_table"
SCHEMA = job.ROOT / "schema/control.schema.json"
PAGE = job.ROOT / "docs/reference/control.md"
BEGIN_OF_SCHEMA = '    "request": {'
REQUESTS, EVENTS, END_OF_TABLE = "| Request | Member | What |\n", "| Event | What has happened | Members |\n", "\n\n"

OF_A_RESIZE = ["adaptation", "from", "to", "balance", "imbalance", "by", "pc", "element", "iteration"]

LIST_MOST, RUNS_MOST, TEXT_MOST = 100000, 1 << 22, 1000000
PATTERNS = {"LINE": r"^[^\n]*$", "HOSTS": r"^[^-,\s][^,\s]*(,[^-,\s][^,\s]*)*$", "HEX": "^[0-9a-f]*$"}
SAID = {"LINE": "line", "HOSTS": "host names", "HEX": "hexadecimal digits", "ANY_TEXT": "text"}
KINDS = ["request", "report", "order", "event"]


def rows():
    return json.loads(subprocess.run([TABLE], check=True, capture_output=True, timeout=20).stdout)


def members_of(row):
    return [member for member in row["members"] if member["what"].islower()]


def rules_of(row, what):
    return [member["name"].split() for member in row["members"] if member["what"] == what]


# ---- The schema -----------------------------------------------------------------------------------

def integer(member):
    return {"type": "integer", "minimum": int(member["least"]), "maximum": int(member["most"])}


def number(member):
    return {"type": "number", **({"minimum": member["least"]} if "least" in member else {})}


def text(member):
    value = {"type": "string"}
    if member["least"]:
        value["minLength"] = member["least"]
    if member["most"] < TEXT_MOST:
        value["maxLength"] = member["most"]
    if member["words"] in PATTERNS:
        value["pattern"] = PATTERNS[member["words"]]
    return value


def texts_by_name(member):
    names = {"propertyNames": {"pattern": "^" + member["words"]}} if member["words"] else {}
    return {"type": "object", **names, "additionalProperties": {"type": "string"}}


def integers(member):
    several = {"minItems": 1, "uniqueItems": True} if member["distinct"] else {}
    return {"type": "array", "items": integer(member), **several, "maxItems": LIST_MOST}


def runs(member):
    """One, or [first, how many]."""
    pair = {"type": "array", "prefixItems": [integer(member), {"type": "integer", "minimum": 1, "maximum": RUNS_MOST}],
            "minItems": 2, "maxItems": 2}
    return {"type": "array", "items": {"anyOf": [integer(member), pair]}}


def shape(member):
    return {"$ref": "#/$defs/shape_" + member["words"]}


def passed_on(member):
    return {"type": member["words"]} if member["words"] in ("array", "object") else {"$ref": "#/$defs/" + member["words"]}


VALUES = {
    "truth": lambda member: {"type": "boolean"},
    "maybe": lambda member: {"type": "boolean"},
    "surely": lambda member: {"const": True},
    "int": integer,
    "whole": integer,
    "number": lambda member: {"enum": [int(word) for word in member["words"].split("|")]},
    "real": number,
    "text": text,
    "choice": lambda member: {"enum": member["words"].split("|")},
    "word": lambda member: {"enum": member["words"].split("|")},
    "truth_or": lambda member: {"enum": [True, False, member["words"]]},
    "ints": integers,
    "runs": runs,
    "texts": lambda member: {"type": "array", "items": {"type": "string"}, "maxItems": LIST_MOST},
    "int_of": lambda member: {"type": "object", "additionalProperties": integer(member), "minProperties": 1,
                              "maxProperties": LIST_MOST},
    "text_of": texts_by_name,
    "object": shape,
    "list": lambda member: {"type": "array", "items": shape(member), "maxItems": member["most"]},
    "json": passed_on,
}


def otherwise(member):
    """What it is when it is missing, where that could also be said."""
    if member["must"] or "otherwise" not in member:
        return {}
    value = member["otherwise"]
    said = member.get("least", value) <= value <= member.get("most", value)
    return {"default": value} if said else {}


def value_of(member):
    return {**VALUES[member["what"]](member), **otherwise(member), "description": member["help"]}


def definition(row):
    first = {} if row["kind"] == "shape" else {"event" if row["kind"] == "event" else "op": {"const": row["name"]}}
    if row["kind"] == "request":
        first["id"] = {"type": "integer", "minimum": 0, "description": "the client's; the answer has it, too"}
    members = members_of(row)
    value = {
        "type": "object",
        "description": row["help"],
        "required": list(first)[:1] + [m["name"] for m in members if m["must"]],
        "properties": first | {member["name"]: value_of(member) for member in members},
    }
    if not rules_of(row, "OPEN"):
        value["additionalProperties"] = False
    for names in rules_of(row, "SOME"):
        value["anyOf"] = [{"required": [name]} for name in names]
    for names in rules_of(row, "ALONE"):
        value["not"] = {"required": names}
    if rules_of(row, "WITH"):
        value["dependentRequired"] = {first: [other] for first, other in rules_of(row, "WITH")}
    return value


def definitions():
    table = rows()
    named = {f"{row['kind']}_{row['name']}": definition(row) for row in table}
    kinds = {kind: {"oneOf": [{"$ref": "#/$defs/" + name} for name in named if name.startswith(kind + "_")]}
             for kind in KINDS}
    return kinds | {"message": {"description": "between the processes of a job",
                                "anyOf": [{"$ref": "#/$defs/report"}, {"$ref": "#/$defs/order"}]}} | named


def written(name, value):
    """A definition's lines: its properties one each."""
    if "properties" not in value:
        return f'    "{name}": {json.dumps(value)}'
    lines = []
    for key, part in value.items():
        if key == "properties" and part:
            inside = ",\n".join(f'        "{member}": {json.dumps(one)}' for member, one in part.items())
            lines.append(f'      "properties": {{\n{inside}\n      }}')
        else:
            lines.append(f'      "{key}": {json.dumps(part)}')
    return f'    "{name}": {{\n' + ",\n".join(lines) + "\n    }"


def schema_text():
    """The whole file: what is before the requests as it is."""
    before = SCHEMA.read_text().split(BEGIN_OF_SCHEMA)[0]
    return before + ",\n".join(written(*each) for each in definitions().items()) + "\n  }\n}\n"


# ---- The page -------------------------------------------------------------------------------------

def numbers_between(member, what):
    least, most = member.get("least"), member.get("most")
    if least is None or least <= -2147483647:
        return what
    return f"{what} from {least:g}" + (f" to {most:g}" if most is not None and most < 2147483647 else "")


def words_for(member):
    """What it has to be, for people."""
    what, words = member["what"], member.get("words", "")
    if what in ("truth", "maybe"):
        return "boolean"
    if what in ("surely", "truth_or"):
        return "`true`" if what == "surely" else f'boolean or `"{words}"`'
    if what in ("choice", "word", "number"):
        return ", ".join(f"`{word}`" if what == "number" else f'`"{word}"`' for word in words.split("|"))
    if what == "text":
        length = f", at most {member['most']} characters" if member["most"] < TEXT_MOST else ""
        return SAID[words] + length
    if what in ("ints", "int_of"):
        return ("list of " if what == "ints" else "object of ") + numbers_between(member, "integers")
    if what == "text_of":
        return "object of texts" + (f", names beginning with `{words}`" if words else "")
    return numbers_between(member, "number" if what == "real" else "integer")


def lines_for(row):
    answered = [member["help"] for member in row["members"] if member["what"] == "ANSWERED"]
    yield f"| `{row['name']}` | | {row['help']}; answered {'; '.join(answered)} |"
    for member in members_of(row):
        default = otherwise(member).get("default")
        missing = f"; {default:g} if missing" if default else ""
        needed = "; required" if member["must"] else ""
        yield f"| | `{member['name']}` | {member['help']} ({words_for(member)}{missing}{needed}) |"


def line_of_event(row):
    """Those that all have, and all about a resize, are told beside the table."""
    names = [member["name"] for member in members_of(row)]
    common = ["time", *(OF_A_RESIZE if {*OF_A_RESIZE} <= {*names} else [])]
    return f"| `{row['name']}` | {row['help']} | {', '.join(f'`{name}`' for name in names if name not in common)} |"


def with_table(page, begin, lines):
    before, rest = page.split(begin)
    return before + "\n".join([begin.strip(), "|---|---|---|", *lines]) + END_OF_TABLE + rest.split(END_OF_TABLE, 1)[1]


def page_text():
    table = rows()
    requests = [line for row in table if row["kind"] == "request" for line in lines_for(row)]
    events = [line_of_event(row) for row in table if row["kind"] == "event"]
    return with_table(with_table(PAGE.read_text(), REQUESTS, requests), EVENTS, events)


if __name__ == "__main__":
    SCHEMA.write_text(schema_text())
    PAGE.write_text(page_text())
