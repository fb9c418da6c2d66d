// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All ops of the tcp dialect, by family.

#ifndef CONVOY_TCP_OPS
#define CONVOY_TCP_OPS

include "dialect/tcp/TcpElementwiseOps.td"
include "dialect/tcp/TcpLinearOps.td"
include "dialect/tcp/TcpPoolingOps.td"
include "dialect/tcp/TcpReductionOps.td"
include "dialect/tcp/TcpShapeOps.td"
include "dialect/tcp/TcpIndexOps.td"
include "dialect/tcp/TcpScanOps.td"
include "dialect/tcp/TcpGroupOps.td"
include "dialect/tcp/TcpSymbolOps.td"

#endif // CONVOY_TCP_OPS
