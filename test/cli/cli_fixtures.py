"""Compiles the models of Inputs/tiny.py with the command line, and parses pages of reports."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from convoy.cli.main import main
from convoy_runtime.profile import GpuFacts

ROOT = Path(__file__).resolve().parents[2]
TINY = f"{ROOT}/test/cli/Inputs/tiny.py"
FACTS = GpuFacts(
    "NVIDIA H200", (9, 0), 132, 1_980_000, 3_201_000, 6144, 62914560, 13000, 91900, 4.3e12
)
#: HTML elements without an end tag.
VOID = {"meta", "input", "br", "link", "img", "hr"}


def compile_tiny(out: Path, *flags: str, function: str = "tiny") -> None:
    """Runs `convoy compile` and checks its exit code.

    Args:
        out: The output file.
        *flags: Further arguments of the command.
        function: The function in Inputs/tiny.py.
    """
    assert main(["compile", f"{TINY}:{function}", "-o", str(out), *flags]) == 0


class Page(HTMLParser):
    """The contents of a page: every tag with its attributes, ids, links, visible text, and whether
    all tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data

    def all(self, name: str) -> list[str]:
        """Returns the values of an attribute.

        Args:
            name: Of the attribute.

        Returns:
            The values, in document order.
        """
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]
