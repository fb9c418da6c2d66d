"""lit configuration: `lit test` after a build; `-D tools=DIR` names another build's bin folder."""

import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parent.parent
tools = Path(lit_config.params.get("tools", root / "build" / "bin"))

config.name = "convoy"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(root / "build" / "test")
config.environment["PATH"] = os.pathsep.join(
    [str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
if not (tools / "convoy-opt").exists():
    lit_config.fatal(
        f"expected {tools / 'convoy-opt'}: build it first (make build), or name its "
        "folder with -D tools=DIR"
    )
