"""The table of options in docs/cudnn.md: MXNet's are complete, and ours exist."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import fields
from pathlib import Path

import convoy_runtime
from convoy.cli import bench, run, tune
from convoy_runtime.cuda.plans.options import PlanOptions

PAGE = (Path(__file__).parents[2] / "docs/cudnn.md").read_text()
ROWS = re.findall(r"^\| (`.*?) \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", PAGE, re.MULTILINE)

#: What decides about plans in MXNet's port of convolutions to this API (incubator-mxnet, pull
#: request 20635): variables, parameters of an op, and arguments of its search for plans.
MXNET = {
    "MXNET_CUDA_ALLOW_TENSOR_CORE",
    "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION",
    "MXNET_CUDNN_ALGO_VERBOSE_LEVEL",
    "MXNET_CUDNN_ALLOW_FFT",
    "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION",
    "MXNET_CUDNN_ALLOW_WINOGRAD",
    "MXNET_CUDNN_AUTOTUNE_DEFAULT",
    "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES",
    "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES",
    "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES",
    "MXNET_CUDNN_HEUR_MODE",
    "MXNET_ENFORCE_DETERMINISM",
    "MXNET_GPU_MEM_POOL_RESERVE",
    "MXNET_GPU_WORKER_NTHREADS",
    "cudnn_tune",
    "excl_behavior",
    "excl_numeric",
    "req_behavior",
    "req_numeric",
    "workspace",
}


def _names(cells: list[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}


def _flags(command: object) -> set[str]:
    parser = argparse.ArgumentParser()
    command.populate_parser(parser)  # type: ignore[attr-defined]
    return set(parser._option_string_actions)


def test_each_option_of_mxnet_has_a_row() -> None:
    named = [name for row in ROWS for name in sorted(_names([row[0]]))]
    assert sorted(named) == sorted(MXNET)


def test_each_option_is_a_keyword_and_a_flag() -> None:
    keywords = {each.name for each in fields(PlanOptions)}
    keywords |= set(inspect.signature(convoy_runtime.load).parameters)
    found = _names([cell for row in ROWS for cell in row[1:]])
    flags = {name for name in found if name.startswith("--")}
    assert {name for row in ROWS for name in _names([row[1]])} <= keywords
    everywhere = _flags(run) & _flags(tune) & _flags(bench)
    assert flags - everywhere == {"--level"}
    assert "--level" in _flags(tune)
    # Each row with an option has its flag.
    assert all(row[2] for row in ROWS if row[1])


def test_each_plan_option_is_in_the_table_or_named_below() -> None:
    section = PAGE.partition("## Which of MXNet's options")[2].partition("\n## ")[0]
    assert {each.name for each in fields(PlanOptions)} - _names([section]) == set()
