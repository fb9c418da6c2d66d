"""passes/Passes.td lists every pass in pipeline order, under its phase."""

from __future__ import annotations

import re
from pathlib import Path

PASSES = Path(__file__).resolve().parent.parent.parent / "passes"
#: Passes that are in no phase.
ALONE = {
    "ConvertCudnnBackendToLLVMPass",
    "VerifyPhasePass",
    # For hand-written graphs, and for the generator of the support table.
    "CudnnOrderOperationsPass",
    "CudnnVerifySupportPass",
}


def _declared() -> dict[str, list[str]]:
    """Phase (or folder): names of passes, in the order of Passes.td."""
    sections: dict[str, list[str]] = {}
    for title, name in re.findall(
        r"^//===-- (\w+) -|^def (\w+) : (?:StaticShapes)?Pass<",
        (PASSES / "Passes.td").read_text(),
        re.MULTILINE,
    ):
        if title:
            section = sections.setdefault(title, [])
        else:
            section.append(name)
    return sections


def _run() -> dict[str, list[str]]:
    """Phase: names of our passes, in the order of Pipeline.cpp."""
    text = (PASSES / "pipeline/Pipeline.cpp").read_text()
    function = re.compile(
        r"^static void (populate\w+)\(([^\n]*\{\}|.*?^\})", re.MULTILINE | re.DOTALL
    )
    bodies = dict(function.findall(text))

    def calls(function: str) -> list[str]:
        found = []
        for name, helper in re.findall(r"\bcreate(\w+)\(|\b(populate\w+)\(pm", bodies[function]):
            found += calls(helper) if helper else [name]
        return found

    return {
        name.removeprefix("populate_"): calls(name)
        for name in bodies
        if name.startswith("populate_")
    }


def test_passes_are_declared_in_pipeline_order() -> None:
    declared = _declared()
    ours = {name for names in declared.values() for name in names}
    run = _run()
    assert set(run) - {"tcp"} == set(declared) - {"common"}
    for phase, names in run.items():
        expected = list(dict.fromkeys(name for name in names if name in ours))
        found = [name for name in declared.get(phase, []) if name not in ALONE]
        assert found == expected, phase
