# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A loaded program: memory, the captured graph, runs and profiles."""
