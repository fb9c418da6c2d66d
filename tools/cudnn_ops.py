# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Extracts which descriptors the cudnn dialect, its lowering and the runtime use, from their
sources."""

from __future__ import annotations

import re

from .descriptors import ROOT

__all__ = ["enum_cases", "lowered_names", "lowered_operations", "operations", "runtime_names"]


def _dialect() -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "dialect/cudnn").glob("*.td")))


def operations() -> dict[str, str]:
    """The operations of a graph in ODS: C++ class to mnemonic."""
    found = dict(
        re.findall(
            r"^def Cudnn_(\w+Op)\s*:\s*Cudnn_\w*ComputeOp<\"(\w+)\"", _dialect(), re.MULTILINE
        )
    )
    if not found:
        raise ValueError("expected operations of the cudnn dialect, but got none")
    return found


def lowered_operations() -> list[str]:
    """The mnemonics of operations with a lowering to descriptors."""
    known = operations()
    header = (ROOT / "passes/cudnn_to_backend/GraphWriter.h").read_text()
    names = re.findall(r"lower\(GraphWriter &\w+, cudnn::(\w+Op) \w+\)", header)
    if not names:
        raise ValueError(
            "expected lowerings in passes/cudnn_to_backend/GraphWriter.h, but got none"
        )
    return sorted(known[name] for name in names)


def lowered_names() -> tuple[set[str], set[str]]:
    """The descriptor kinds and the attributes that lowerings of cudnn operations write."""
    text = "\n".join(
        path.read_text() for path in sorted((ROOT / "passes/cudnn_to_backend").glob("*.cpp"))
    )
    return set(re.findall(r"\bDescriptorKind::(\w+)", text)), set(
        re.findall(r"\b(?:AttributeName|Name)::(\w+)", text)
    )


def runtime_names() -> tuple[set[str], set[str]]:
    """The descriptor kinds and the attributes that the runtime uses to choose engines and run
    plans."""
    files = [
        path
        for path in sorted((ROOT / "runtime/convoy_runtime").rglob("*.py"))
        if path.name != "enums.py"
    ]
    text = "\n".join(path.read_text() for path in files)
    kinds, attributes = (
        re.findall(r"\bDescriptor\.([A-Z_]+)\b", text),
        re.findall(r"\bAttribute\.([A-Z_]+)\b", text),
    )
    return {each.lower() for each in kinds}, {each.lower() for each in attributes}


def enum_cases(ctype: str) -> dict[str, int]:
    """The cases of the dialect's enum for a C enum.

    Args:
        ctype: The C enum, e.g. cudnnPointwiseMode_t.

    Returns:
        Mnemonic to number; empty when the dialect has no such enum.
    """
    found = re.search(
        rf"Cudnn_Enum<\"\w+\", \"{ctype}\b.*?(?=^def )",
        _dialect() + "\ndef ",
        re.MULTILINE | re.DOTALL,
    )
    return {
        text: int(number)
        for number, text in re.findall(
            r"I32EnumAttrCase<\"\w+\", (\d+), \"(\w+)\">", found.group() if found else ""
        )
    }
