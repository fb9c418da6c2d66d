// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Groups: regions of ops that are computed together.

#ifndef CONVOY_TCP_GROUP_OPS
#define CONVOY_TCP_GROUP_OPS

include "dialect/tcp/TcpDialect.td"

def Tcp_IsolatedGroupOp : Tcp_Op<"isolated_group", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a group of ops that are computed together";
  let description = [{
    The body uses no values from above. Its block arguments are the operands, and the operands of
    `tcp.yield` are the results.

    **Constraints**

    * (c1) block arguments and operands agree in number and type.
    * (c2) yielded values and results agree in number and type.

    ```mlir
    %y = tcp.isolated_group %x, %w {
    ^bb0(%arg0: tensor<1x64x56x56xf32>, %arg1: tensor<64x64x3x3xf32>):
      %0 = tcp.clamp %arg0 {min_float = 0.0 : f32} : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
      %1 = tcp.conv2d %0, %arg1 {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
          : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
      tcp.yield %1 : tensor<1x64x56x56xf32>
    } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Variadic<Tcp_Tensor>:$inputs);
  let results = (outs Variadic<Tcp_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict-with-keyword custom<IsolatedRegion>($body) `:` type($inputs) `->` type($outputs)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tcp_YieldOp : Tcp_Op<"yield", [Terminator, ReturnLike, ParentOneOf<["IsolatedGroupOp", "ScanOp"]>]> {
  let summary = "the results of a group or of a step of a scan";
  let description = "Ends the body of a `tcp.isolated_group` or a `tcp.scan`.";
  let arguments = (ins Variadic<Tcp_Tensor>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

#endif // CONVOY_TCP_GROUP_OPS
