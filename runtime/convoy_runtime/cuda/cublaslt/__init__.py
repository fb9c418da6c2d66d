# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""cuBLASLt: the library, and matrix products with their algorithms."""
