# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The command `convoy`."""

from __future__ import annotations

__all__: list[str] = []
