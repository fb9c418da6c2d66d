# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds the op of a model that makes its compiled results differ from PyTorch's: `convoy
bisect`."""

from __future__ import annotations

from convoy.bisect.search import Finding, OpErrors, bisect_model

__all__ = ["Finding", "OpErrors", "bisect_model"]
