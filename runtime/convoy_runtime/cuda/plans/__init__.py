# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Execution plans for graphs: building, storing and choosing them without measurement."""
