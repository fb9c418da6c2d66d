# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles the samples of PyTorch's OpInfo database, compares the results with PyTorch, and writes
docs/ops.md."""
