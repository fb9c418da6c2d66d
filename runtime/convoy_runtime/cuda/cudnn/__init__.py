# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""cuDNN's backend API: the library, descriptors, engine configurations and known errors."""
