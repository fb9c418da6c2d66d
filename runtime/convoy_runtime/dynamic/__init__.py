# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Artifacts for several sizes: the manifest, the choice of a point, and programs."""
