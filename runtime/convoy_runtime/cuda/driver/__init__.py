# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Access to the CUDA driver: checked calls, devices, device memory and PTX compilation."""
