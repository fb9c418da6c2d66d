# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Artifacts behind servers. Each server's package is imported by its own subpackage only, e.g. Ray
Serve by `convoy_runtime.integrations.ray`; the modules here need numpy only."""
