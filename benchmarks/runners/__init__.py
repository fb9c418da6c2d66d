# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The compared implementations: Convoy and its peers, each in a separate process that
`benchmarks.processes` starts."""
