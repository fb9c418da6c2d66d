// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recurrent networks, for which cuDNN's graphs have no operation.

#ifndef CONVOY_CUDNN_RECURRENT_OPS
#define CONVOY_CUDNN_RECURRENT_OPS

include "dialect/cudnn/CudnnNamedTensors.td"

def Cudnn_RecurrentOp : Op<Cudnn_Dialect, "recurrent", [Pure, Cudnn_GraphOperation, ParentOneOf<["GraphOp"]>, AttrSizedOperandSegments]> {
  let summary = "all steps of one direction of a recurrent layer";
  let description = [{
    What `cudnnRNNForward` computes for one direction of a layer, without the products of the
    inputs, which `given` has for all T steps, with the biases added. Each of B sequences has a
    hidden state of H numbers, and for `lstm` a cell. In each step the hidden state is multiplied by
    `weights`, which gives H numbers for each gate. The gates are in PyTorch's order: input, forget,
    new and output of `lstm`; reset, update and new of `gru`, whose `bias` is added to the product of
    the new gate before the reset gate scales it. `rnn_tanh` and `rnn_relu` have one gate, the next
    state.

    `y` has the hidden state after each step, and `last_cell` the cell after the last one. `hidden`
    and `cell` are the initial state, by default zeros. With `reverse` the steps are in the order of
    descending indices.

    The operation is only in graphs that are marked `only_kernel`.

    **Constraints**

    * (c1) `given` is T x B x G*H for the G gates of the mode, and `y` is T x B x H.
    * (c2) `weights` is H x G*H.
    * (c3) `hidden`, `cell` and `last_cell` are B x H. `lstm` has a `last_cell`, and no other mode
      has it or a `cell`.
    * (c4) `bias` is 1 x H, and only `gru` has it.
    * (c5) all tensors have the same element type, f32, f16 or bf16.

    ```mlir
    %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<128x1x2048xf16>) weights(%w : !cudnn.tensor_desc<512x2048xf16>)
        -> y(!cudnn.tensor_desc<128x1x512xf16>) last_cell(!cudnn.tensor_desc<1x512xf16>)
    ```

    cuDNN's backend API has no such descriptor: `cudnnRNNForward` is a function of its legacy API.
  }];
  let arguments = (ins Cudnn_RecurrentModeAttr:$mode, UnitAttr:$reverse, Cudnn_TensorDescType:$given, Cudnn_TensorDescType:$weights,
                       Optional<Cudnn_TensorDescType>:$hidden, Optional<Cudnn_TensorDescType>:$cell, Optional<Cudnn_TensorDescType>:$bias);
  let results = (outs Cudnn_TensorDescType:$y, Optional<Cudnn_TensorDescType>:$last_cell);
  let assemblyFormat = "$mode (`reverse` $reverse^)? " # Cudnn_In<"given">.text # Cudnn_In<"weights">.text # Cudnn_OptionalIn<"hidden">.text
      # Cudnn_OptionalIn<"cell">.text # Cudnn_OptionalIn<"bias">.text # "attr-dict `->` " # Cudnn_Out<"y">.text
      # Cudnn_OptionalOut<"last_cell">.text;
  let extraClassDeclaration = [{
    /// The number of gates.
    static int64_t getGates(RecurrentMode mode);
  }];
  let hasVerifier = 1;
}

#endif // CONVOY_CUDNN_RECURRENT_OPS
