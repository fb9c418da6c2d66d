# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The `cuda` target. Imported when an artifact of that target is loaded.

Each package imports only from those before it: `driver`, `cudnn`, `plans`, `graphs`, `tuning`,
`program`.
"""
