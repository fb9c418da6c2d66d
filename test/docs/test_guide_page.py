# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""docs/guide.md: its examples for the CPU run. The links of the pages for users lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import DOCS, run_page


def test_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page("guide.md")
    assert {"model.py", "model.pt2", "model.convoy", "model-cuda.convoy"} <= {
        path.name for path in tmp_path.iterdir()
    }


LINKS = [
    (page, target)
    for page in (
        "README.md",
        "docs/guide.md",
        "docs/performance.md",
        "docs/dynamic-shapes.md",
        "docs/serving.md",
    )
    for target in re.findall(r"\]\((?!https:)([^)]+)\)", (DOCS.parent / page).read_text())
]


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_link_has_its_file_and_heading(page: str, target: str) -> None:
    name, _, anchor = target.partition("#")
    file = (DOCS.parent / page).parent / name
    assert file.is_file()
    headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert not anchor or anchor in slugs
