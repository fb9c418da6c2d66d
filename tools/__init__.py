# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Developer tools, run as `python -m tools.NAME` from the root of the repository. Not packaged."""
