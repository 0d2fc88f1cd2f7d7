"""Every schema: its examples, one test per file, and that what the programs print agrees with it."""

import json
import pathlib
import re

import job
import jsonschema
import pytest

from schemas import schema, validate

SCHEMAS = job.ROOT / "schema"
EXAMPLES = SCHEMAS / "examples"
BUILT = sorted(path for folder in ("programs", "examples")
               for path in (job.BUILD / "lib/epop" / folder).glob("*.so"))


def files(kind):
    return sorted(EXAMPLES.glob(f"*/{kind}/*.json"))


def names(path):
    return str(path.relative_to(path.parents[2])) if isinstance(path, pathlib.Path) else str(path)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.schema.json")), ids=lambda path: path.name)
def test_schema_is_one_and_has_examples(path):
    name = path.name.removesuffix(".schema.json")
    jsonschema.Draft202012Validator.check_schema(schema(name))
    examples = EXAMPLES / name
    assert list(examples.glob("valid/*.json")) and list(examples.glob("invalid/*.json"))


@pytest.mark.parametrize("path", files("valid"), ids=names)
def test_valid(path):
    validate(path.parents[1].name, json.loads(path.read_text()))


@pytest.mark.parametrize("path", files("invalid"), ids=names)
def test_invalid(path):
    with pytest.raises(jsonschema.ValidationError):
        validate(path.parents[1].name, json.loads(path.read_text()))


def test_programs_were_built():
    assert BUILT


@pytest.mark.parametrize("path", BUILT, ids=lambda path: path.name)
def test_program_serializes(space, path):
    result = space.epop("--driver", "check", "--format", "json", path)
    assert result.status == 0, result
    value = json.loads(result.out)
    validate("program", value)
    assert [element["pc"] for element in value["elements"]] == list(range(len(value["elements"])))


def test_the_supervisors_header_names_what_its_schema_names():
    header = (job.ROOT / "runtime/control/supervisor.h").read_text()
    names = re.findall(r'^#define SUPERVISOR_\w+ +"([a-z]+)"', header, flags=re.M)
    told = {op for line in schema("supervisor")["$defs"].values() for op in
            [line.get("properties", {}).get("op", {}).get("const")] + line.get("properties", {}).get("op", {}).get("enum", []) if op}
    assert len(names) == len(set(names)) > 10 and set(names) == told
