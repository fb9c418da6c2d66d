# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures plans on the device and chooses among them."""
