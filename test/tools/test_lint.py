"""The files that `make lint` passes to clang-tidy."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tools.lint import MOST_SOURCES, ROOT, llvm_version, tidy_sources, too_many

DATABASE = [str(ROOT / "passes/a/One.cpp"), "passes/a/Two.cpp", "python/three.c"]


def test_changed_sources_are_checked() -> None:
    changed = ["passes/a/Two.cpp", "passes/a/One.cpp"]
    assert tidy_sources(changed, DATABASE) == ["passes/a/One.cpp", "passes/a/Two.cpp"]


def test_changed_header_checks_its_source() -> None:
    assert tidy_sources(["passes/a/One.h", "passes/a/Alone.h"], DATABASE) == ["passes/a/One.cpp"]


def test_uncompiled_files_are_skipped() -> None:
    assert tidy_sources(["runtime/device/conv.cu", "python/three.c"], DATABASE) == []


def test_change_of_too_many_files_is_not_checked() -> None:
    sources = [f"passes/a/{number}.cpp" for number in range(MOST_SOURCES)]
    assert too_many(sources, "0123456789abcdef") is None
    reason = too_many([*sources, "passes/a/last.cpp"], "0123456789abcdef")
    assert reason is not None
    assert "25 files changed since 0123456789ab, so clang-tidy is skipped" in reason


def test_version_is_the_pinned_one() -> None:
    assert llvm_version().isdecimal()
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert f"clang-format-{llvm_version()} -i" in hooks


def test_files_in_presets_exist() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    assert [each["name"] for each in presets["configurePresets"]] == ["default", "sanitize"]
    for each in presets["configurePresets"]:
        toolchain = each["toolchainFile"].replace("${sourceDir}", str(ROOT))
        assert Path(toolchain).is_file()


def test_license_is_that_of_the_package() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "LLVM Exceptions to the Apache 2.0 License" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0 WITH LLVM-exception"
