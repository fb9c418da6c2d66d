// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops: a region of ops that is computed once for each step.

#ifndef CONVOY_TCP_SCAN_OPS
#define CONVOY_TCP_SCAN_OPS

include "dialect/tcp/TcpDialect.td"

def Tcp_ScanOp : Tcp_Op<"scan", [IsolatedFromAbove, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "a loop over the leading dim of tensors, with a state";
  let description = [{
    Computes the body `trips` times (torch.ops.higher_order.scan, jax.lax.scan). Its block arguments
    are the state, one element of each sliced operand along dim 0, and the invariant operands.
    `tcp.yield` has the next state, and then the outputs of the step. The results are the last state,
    and then the outputs of all steps, stacked along dim 0. The state of the first step is `carried`.

    Step `i` reads and writes element `i` of dim 0, or with `reverse` element `trips - 1 - i`. So the
    order of the stacked outputs is that of the sliced operands in both cases. The body uses no
    values from above.

    **Constraints**

    * (c1) `trips` is at least 1.
    * (c2) sliced operands have `trips` elements along dim 0, or `?`.
    * (c3) the block arguments' types are those of the state, of the elements of sliced operands, and
      of the invariant operands.
    * (c4) the body ends in `tcp.yield`, which has values of the state's types first.
    * (c5) the results' types are those of the state, and of the outputs of the step with a dim 0 of
      size `trips`.

    ```mlir
    %h, %y = tcp.scan trips 512 carried(%h0 : tensor<1x8xf32>) sliced(%x : tensor<512x1x8xf32>)
        invariant(%w : tensor<8x8xf32>) {
    ^bb0(%state: tensor<1x8xf32>, %element: tensor<1x8xf32>, %weights: tensor<8x8xf32>):
      %0 = tcp.matmul %state, %weights : tensor<1x8xf32>, tensor<8x8xf32> -> tensor<1x8xf32>
      %1 = tcp.add %0, %element : tensor<1x8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
      %2 = tcp.tanh %1 : tensor<1x8xf32> -> tensor<1x8xf32>
      tcp.yield %2, %2 : tensor<1x8xf32>, tensor<1x8xf32>
    } -> tensor<1x8xf32>, tensor<512x1x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Tcp_Tensor>:$carried, Variadic<Tcp_Tensor>:$sliced, Variadic<Tcp_Tensor>:$invariant,
                       I64Attr:$trips, UnitAttr:$reverse);
  let results = (outs Variadic<Tcp_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `trips` $trips (`reverse` $reverse^)? (`carried` `(` $carried^ `:` type($carried) `)`)?
    (`sliced` `(` $sliced^ `:` type($sliced) `)`)? (`invariant` `(` $invariant^ `:` type($invariant) `)`)?
    attr-dict-with-keyword custom<IsolatedRegion>($body) (`->` type($outputs)^)?
  }];
  let extraClassDeclaration = [{
    /// The block arguments of the state, of the elements of sliced operands, and of the invariant
    /// operands.
    ::mlir::Block::BlockArgListType getCarriedArgs() {
      return getBody().getArguments().take_front(getCarried().size());
    }
    ::mlir::Block::BlockArgListType getSlicedArgs() {
      return getBody().getArguments().slice(getCarried().size(), getSliced().size());
    }
    ::mlir::Block::BlockArgListType getInvariantArgs() {
      return getBody().getArguments().take_back(getInvariant().size());
    }
    /// The `tcp.yield` of the body.
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
    /// The next state, and the outputs of a step.
    ::mlir::OperandRange getNextState() { return getYield()->getOperands().take_front(getCarried().size()); }
    ::mlir::OperandRange getStepOutputs() { return getYield()->getOperands().drop_front(getCarried().size()); }
    /// The results with the outputs of all steps.
    ::mlir::ResultRange getStacked() { return getOutputs().drop_front(getCarried().size()); }
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // CONVOY_TCP_SCAN_OPS
