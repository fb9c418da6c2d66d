# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Convoy's CPU target beside PyTorch, ONNX Runtime and OpenVINO."""
