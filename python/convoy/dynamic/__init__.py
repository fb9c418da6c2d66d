# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles models with dynamic sizes: one static program for each point, in one artifact."""

from convoy.dynamic.compile import compile_dynamic
from convoy.dynamic.model import DynamicModel

__all__ = ["DynamicModel", "compile_dynamic"]
