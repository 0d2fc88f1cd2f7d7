"""JSON that is read or written, against its schema."""

import functools
import json

import job
import jsonschema


@functools.cache
def schema(name):
    return json.loads((job.ROOT / f"schema/{name}.schema.json").read_text())


@functools.cache
def _validator(name, part):
    one = {"$defs": schema(name)["$defs"], "$ref": f"#/$defs/{part}"} if part else schema(name)
    return jsonschema.Draft202012Validator(one)


def validate(name, value, part=None):
    """The value, which agrees with that schema, or with that part of it ($defs)."""
    _validator(name, part).validate(value)
    return value
