# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Artifacts in Triton Inference Server: `repository` writes a model repository, and `model` is the
model of Triton's Python backend that runs there."""
