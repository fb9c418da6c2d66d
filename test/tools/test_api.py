"""Public functions: each keyword is typed and documented, and has the same default everywhere."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import pytest

import convoy
import convoy_runtime
from convoy.options import CompileOptions

FUNCTIONS = [convoy.compile, convoy_runtime.load]


def _documented(function: Callable[..., Any], heading: str) -> list[str]:
    text = inspect.getdoc(function) or ""
    section = re.search(rf"^{heading}:\n((?:    .*\n|\n)*)", text + "\n", re.MULTILINE)
    assert section, f"{function} has no section {heading}"
    return re.findall(r"^    (\w+):", section[1], re.MULTILINE)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__qualname__)
def test_each_parameter_is_typed_and_documented(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    for each in parameters:
        assert each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY), each
        assert each.annotation is not each.empty, each
    names = [each.name for each in parameters]
    assert sorted(_documented(function, "Args")) == sorted(names)


def test_each_option_is_documented() -> None:
    assert _documented(CompileOptions, "Attributes") == [
        each.name for each in fields(CompileOptions)
    ]


@pytest.mark.parametrize("function", [convoy.compile, CompileOptions.of])
def test_defaults_equal_those_of_the_options(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    for each in fields(CompileOptions):
        if each.default is not MISSING:
            assert parameters[each.name].default == each.default, each.name


def test_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'chips'"):
        convoy.compile(None, (), chips="sm_90")  # type: ignore[arg-type,call-arg]
