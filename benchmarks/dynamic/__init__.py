# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Artifacts with dynamic sizes beside static ones."""
