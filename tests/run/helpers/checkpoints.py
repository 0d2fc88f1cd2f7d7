"""Checkpoint files as others see them: by h5py, and as JSON of schema/checkpoint.schema.json."""

import json

import h5py
import numpy

UNITS = {8: "<u8", 4: "<u4", 2: "<u2", 1: "<u1"}


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def checksum(content):
    """Of a dataset's elements, as docs/reference/checkpoint.md has it."""
    size = content.dtype.itemsize
    unit = next(unit for unit in UNITS if size % unit == 0)
    units = numpy.frombuffer(content.tobytes(), dtype=UNITS[unit]).astype("u8")
    with numpy.errstate(over="ignore"):
        x = units + (numpy.arange(len(units), dtype="u8") + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(32))) * numpy.uint64(0xD6E8FEB86659FD93)
        return int((x ^ (x >> numpy.uint64(32))).sum(dtype="u8"))


def described(name, dataset):
    """What a file says of a dataset. An array type has its dimensions behind those of the array."""
    return {"name": name, "type": text(dataset.attrs["type"]), "extent": list(dataset.id.get_space().shape),
            "checksum": f"{int(dataset.attrs['checksum']):016x}"}


def datasets(file):
    """{name: dataset} of a file, without those that are linked."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = item

    file.visititems(visit)
    return found


def linked(file):
    rows = file.attrs["linked"] if "linked" in file.attrs else []
    return [{"name": text(row["name"]), "file": text(row["file"]), "checksum": f"{int(row['checksum']):016x}"} for row in rows]


def as_json(path):
    """The head and the list of datasets."""
    with h5py.File(path, "r") as file:
        head = file.attrs
        return {
            "kind": text(head["kind"]),
            **{name: int(head[name]) for name in ("format", "size", "number", "restarts")},
            **{name: text(head[name]) for name in ("epop", "byte_order", "program")},
            "structure": json.loads(text(head["structure"]) or "null"),
            "arguments": json.loads(text(head["arguments"]) or "[]"),
            "position": {name: int(head[name]) for name in ("pc", "visit", "iteration")},
            "time": float(head["time"]),
            "values": {name.removeprefix("values/"): len(head[name].tobytes()) for name in head if name.startswith("values/")},
            "datasets": [described(name, dataset) for name, dataset in sorted(datasets(file).items())] + linked(file),
        }


def require_sound(path):
    """Opens, and each dataset has the content that was written. What stands in the head."""
    with h5py.File(path, "r") as file:
        for dataset in datasets(file).values():
            assert checksum(dataset[...]) == int(dataset.attrs["checksum"])
    return as_json(path)
