# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiles models with dynamic sizes: one static program for each point, in one artifact.

The modules are imported one by one, because only `compile` and `shapes` need PyTorch.
"""
