"""Writes runtime/convoy_runtime/cuda/cudnn/enums.py from Descriptors.def. The runtime has no build
step, so the file is committed.

    python -m tools.write_enums

test/runtime/test_enums.py fails when the file is not what this writes.
"""

from __future__ import annotations

from pathlib import Path

from .descriptors import ROOT, Table, read_table

__all__ = ["PATH", "main", "text_of"]

PATH: Path = ROOT / "runtime/convoy_runtime/cuda/cudnn/enums.py"

#: Python's name of an enum, the attribute type that it is of, and what its enumerators begin with:
#: those that the runtime uses, because making an enum takes longer than importing most modules.
_ENUMS = {
    "BehaviorNote": ("behavior_note", "CUDNN_BEHAVIOR_NOTE_"),
    "DataType": ("data_type", "CUDNN_DATA_"),
    "HeurMode": ("heur_mode", "CUDNN_HEUR_MODE_"),
    "KnobType": ("knob_type", "CUDNN_KNOB_TYPE_"),
    "NumericalNote": ("numerical_note", "CUDNN_NUMERICAL_NOTE_"),
}
_HEAD = '''"""cuDNN's enums with the numbers of cudnn_graph.h.

Written by `python -m tools.write_enums` from dialect/cudnn_backend/Descriptors.def: edit that list,
not this file.
"""

from __future__ import annotations

from enum import IntEnum

'''
_TAIL = '''

def name_of(enum: type[IntEnum], value: int) -> str:
    """The name of a value, or its number when a newer cuDNN has one that is not known here."""
    try:
        return enum(value).name
    except ValueError:
        return str(value)
'''


def _class(name: str, doc: str, members: list[tuple[str, int]]) -> str:
    lines = "".join(
        f"    {member} = {number}\n" for member, number in sorted(members, key=lambda each: each[1])
    )
    return f'\n\nclass {name}(IntEnum):\n    """{doc}"""\n\n{lines}'


def text_of(table: Table) -> str:
    """The file's text."""
    ctype = {each.name: each.ctype for each in table.types}
    kinds = [(each.kind.upper(), each.number) for each in table.descriptors]
    types = [(each.cname.removeprefix("CUDNN_TYPE_"), each.number) for each in table.types]
    classes = [
        (
            "Attribute",
            "cudnnBackendAttributeName_t: CUDNN_ATTR_*.",
            [(each.name.upper(), each.number) for each in table.attributes],
        ),
        ("Descriptor", "cudnnBackendDescriptorType_t: CUDNN_BACKEND_*_DESCRIPTOR.", kinds),
        ("Type", "cudnnBackendAttributeType_t: CUDNN_TYPE_*.", types),
    ]
    for name, (type_name, prefix) in _ENUMS.items():
        members = [
            (each.cname.removeprefix(prefix), each.number) for each in table.of_type(type_name)
        ]
        classes.append((name, f"{ctype[type_name]}: {prefix}*.", members))
    classes.sort()
    exported = "".join(f'    "{name}",\n' for name, _, _ in classes)
    return (
        f'{_HEAD}__all__ = [\n{exported}    "name_of",\n]\n'
        + "".join(_class(*each) for each in classes)
        + _TAIL
    )


def main() -> None:
    """Writes the file."""
    PATH.write_text(text_of(read_table()))
    print(f"wrote {PATH.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
