# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The commands of docs/c.md compile a model and the page's program, which runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from runtime_fixtures import c_compiler

ROOT = Path(__file__).parents[2]


def test_page_runs(tmp_path: Path) -> None:
    blocks = dict(
        re.findall(r"^```(sh|c)\n(.*?)^```$", (ROOT / "docs/c.md").read_text(), re.S | re.M)
    )
    (tmp_path / "runtime").symlink_to(ROOT / "runtime")
    (tmp_path / "main.c").write_text(blocks["c"])
    shutil.copy(ROOT / "test/cli/Inputs/tiny.py", tmp_path / "tiny.py")
    commands = blocks["sh"].replace("MODEL.py:FUNCTION", "tiny.py:tiny")
    assert commands.startswith("convoy ")
    commands = commands.replace("convoy ", f"{sys.executable} -m convoy ", 1)
    commands = commands.replace("\ncc ", f"\n{c_compiler()} -Wall -Wextra -Werror ")
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert re.search(r"^\w+ -> \w+: ", done.stdout, re.M), done.stdout
