# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""GPU benchmarks. Convoy and its peers are timed in the same run."""
