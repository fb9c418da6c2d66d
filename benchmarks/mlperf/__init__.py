# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""MLPerf's LoadGen with Convoy as the system under test."""
