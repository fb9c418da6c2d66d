# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Queries cuDNN about a matrix of graphs and generates the support table (docs/support.md)."""
