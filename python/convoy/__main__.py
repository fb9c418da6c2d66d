# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`python -m convoy` runs the command `convoy`."""

from __future__ import annotations

import sys

from convoy.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
