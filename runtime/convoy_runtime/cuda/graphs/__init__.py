# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""CUDA graphs: the calls of a program, their order, and capturing them."""
