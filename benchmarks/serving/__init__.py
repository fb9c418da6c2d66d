# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What serving an artifact costs: throughput and latency behind a server next to direct calls."""
