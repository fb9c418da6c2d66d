# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The bandwidth of functions that are bound by memory, beside that of a copy."""
