# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models of many kinds, and a comparison of Convoy with PyTorch on all of them."""
