// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All passes, in the order of passes/pipeline/Pipeline.cpp. docs/architecture.md lists the legal
// dialects after each phase.

#ifndef CONVOY_PASSES
#define CONVOY_PASSES

include "mlir/Pass/PassBase.td"

/// A pass that refuses tensors with `?`, and implements `runOnStaticShapes`.
class StaticShapesPass<string flag, string operation> : PassBase<flag, "::convoy::StaticShapesPass<" # operation # ">">;

//===-- common -----------------------------------------------------------------------------------------------------------===//

def TcpInferSymbolicShapesPass : Pass<"tcp-infer-symbolic-shapes", "::mlir::ModuleOp"> {
  let summary = "bind the results of ops to expressions of symbols";
  let description = [{
    Infers the shapes of all values from those that `tcp.bind_symbolic_shape` gives, and checks the
    constraints of each op for them: an op whose operands cannot fit for any value of the symbols,
    as sizes `s0` and `s0 + 1` of a sum, is an error with the names of the symbols. Adds a
    `tcp.bind_symbolic_shape` for each result of the function's ops that has a `?` and whose
    shape follows.

    ```mlir
    %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
    tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : tensor<?x8xf32>
    %y = tcp.concat %x, %x {dim = 0 : i64} : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    ```

    becomes

    ```mlir
    %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
    tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : tensor<?x8xf32>
    %y = tcp.concat %x, %x {dim = 0 : i64} : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
    tcp.bind_symbolic_shape %y, [%s0], affine_map<()[s0] -> (s0 * 2, 8)> : tensor<?x8xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpSpecializeSymbolsPass : Pass<"tcp-specialize-symbols", "::mlir::ModuleOp"> {
  let summary = "replace the symbols of shapes by numbers";
  let description = [{
    `values=s0=8,s1=128` has a value of each symbol, in its range and a multiple of its divisor.
    Arguments get the sizes of their `tcp.bind_symbolic_shape`, and results those that follow from
    the operands. An op that contradicts them, and a `?` that remains, are errors with the values of
    the symbols. Removes the ops about symbols. The option `symbols` of `--convoy-pipeline` runs this
    pass before the first phase.

    ```mlir
    func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
      tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : tensor<?x8xf32>
      %y = tcp.tanh %x : tensor<?x8xf32> -> tensor<?x8xf32>
    ```

    becomes with `values=s0=4`

    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %y = tcp.tanh %x : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let options = [ListOption<"values", "values", "std::string", "NAME=NUMBER for each symbol, with commas between them">];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::mlir::arith::ArithDialect"];
}

def VerifyPhasePass : StaticShapesPass<"convoy-verify-phase", "::mlir::ModuleOp"> {
  let summary = "check that only ops that are legal after a phase are left";
  let description = [{
    Reports every op whose dialect is not legal at the end of `phase`, with a count per op name.
    Does not change the module.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "name of the phase that has ended">];
}

def CompleteProgramPass : StaticShapesPass<"convoy-complete-program", "::mlir::ModuleOp"> {
  let summary = "give hand-written IR the names of a program";
  let description = [{
    Sets `tcp.target` of `@main` and the module where it is absent. Arguments that are tensors
    without a role become inputs named `argN`, and results without a name become outputs named after
    their position. A module's only function becomes `@main`, with a remark. Fails if `tcp.target`
    is another target, and on `cpu` if an op needs a GPU. Runs before the first phase of every
    compilation.

    ```mlir
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32>
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<2xf32> {tcp.input = "arg0"}) -> (tensor<2xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"}
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "where @main runs: cpu or cuda">];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::mlir::func::FuncDialect"];
}

def RunPhasesPass : Pass<"convoy-run-phases", "::mlir::ModuleOp"> {
  let summary = "run phases for the module's target";
  let description = [{
    `--convoy-pipeline` without `target` is this pass. The target is `tcp.target` of `@main` or of
    the module. Without it, it is `cuda` if the module has groups or ops of `cudnn`, `cudnn_backend`
    or `gpu`, else `cpu`.
  }];
  let options = [Option<"pipelineOptions", "options", "std::string", "", "options of --convoy-pipeline">];
}

//===-- normalize --------------------------------------------------------------------------------------------------------===//

def TcpLowerUnsignedPass : StaticShapesPass<"tcp-lower-unsigned", "::mlir::func::FuncOp"> {
  let summary = "replace ui8 by i8";
  let description = [{
    Integers are signless from here on, and their ops are signed. A cast from `ui8` extends the sign
    of an `i8` and clears it. An op whose result depends on the sign, e.g. a division or a maximum,
    computes in `i16`. All others, e.g. sums and ops that move elements, have the same bits for
    `ui8` and `i8`. Arguments and results of the function that were `ui8` get `tcp.unsigned`, from
    which the manifest has their dtype. Runs first, so that no other pass has a case for `ui8`.

    ```mlir
    func.func @main(%x: tensor<4xui8> {tcp.input = "x"}) -> (tensor<4xf32> {tcp.output = "0"}) {
      %y = tcp.cast %x : tensor<4xui8> -> tensor<4xf32>
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<4xi8> {tcp.input = "x", tcp.unsigned}) -> (tensor<4xf32> {tcp.output = "0"}) {
      %0 = tcp.cast %x : tensor<4xi8> -> tensor<4xi16>
      %cst = arith.constant dense<255> : tensor<1xi16>
      %1 = tcp.bitwise_and %0, %cst : tensor<4xi16>, tensor<1xi16> -> tensor<4xi16>
      %y = tcp.cast %1 : tensor<4xi16> -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::mlir::arith::ArithDialect"];
}

def TcpApplyDimOrderPass : StaticShapesPass<"tcp-apply-dim-order", "::mlir::func::FuncOp"> {
  let summary = "give arguments and results their shape in memory";
  let description = [{
    An argument or result with `tcp.dim_order` becomes the packed tensor that is in memory, and a
    transpose connects it to the function's body. The passes that follow move these transposes, and
    remove those that two orders have in common. The attribute stays, for the manifest.

    ```mlir
    func.func @main(%x: tensor<1x3x8x8xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.input = "x"}) -> ...
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<1x8x8x3xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.input = "x"}) -> ... {
      %0 = tcp.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x8x8x3xf32> -> tensor<1x3x8x8xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpDecomposeConvGradientsPass : StaticShapesPass<"tcp-decompose-conv-gradients", "::mlir::func::FuncOp"> {
  let summary = "convert gradients of convolutions to transposed convolutions and convolutions";
  let description = [{
    The gradient of the input is a transposed convolution. The gradient of the weights is a
    convolution of the input with the gradient as weights: batch and channels are swapped, and
    stride and dilation. Its sums over more than 8192 products are split by images and added. The
    pipeline runs this pass for `cpu`; on `cuda` gradients are operations of cuDNN.

    ```mlir
    %dw = tcp.conv_backward_filter %x, %dy {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
        : tensor<2x4x9xf32>, tensor<2x8x4xf32> -> tensor<8x4x3xf32>
    ```

    becomes

    ```mlir
    // %0: %x as 4x2x9, %1: %dy as 8x2x4
    %2 = tcp.conv1d %0, %1 {dilation = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 1>}
        : tensor<4x2x9xf32>, tensor<8x2x4xf32> -> tensor<4x8x3xf32>
    %dw = tcp.transpose %2 {perm = array<i64: 1, 0, 2>} : tensor<4x8x3xf32> -> tensor<8x4x3xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpDecomposeConvTransposePass : StaticShapesPass<"tcp-decompose-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "convert transposed convolutions to convolutions";
  let description = [{
    Inserts `stride - 1` zeros between the input's elements, swaps the weights' channels in each
    group and reverses their window. Padding that becomes negative crops the input.

    ```mlir
    %y = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
        : tensor<1x4x8xf32>, tensor<4x2x2xf32> -> tensor<1x2x16xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 1>, low = array<i64: 0, 0, 0>, value = 0.0 : f64}
        : tensor<1x4x8xf32> -> tensor<1x4x15xf32>
    // %v: %w as 2x4x2, its last dim reversed
    %y = tcp.conv1d %0, %v {dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>}
        : tensor<1x4x15xf32>, tensor<2x4x2xf32> -> tensor<1x2x16xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpTrimWindowsPass : StaticShapesPass<"tcp-trim-windows", "::mlir::func::FuncOp"> {
  let summary = "drop taps of convolutions that read only padding";
  let description = [{
    Taps at either end of a window that read padding for each output, as those of a dilation that is
    larger than the image, are dropped from the weights and the padding.

    ```mlir
    %y = tcp.conv1d %x, %w {dilation = array<i64: 8>, pad = array<i64: 8, 8>, stride = array<i64: 1>}
        : tensor<1x4x6xf32>, tensor<5x4x3xf32> -> tensor<1x5x6xf32>
    ```

    becomes

    ```mlir
    %v = tcp.slice %w {sizes = array<i64: 5, 4, 1>, starts = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 1>}
        : tensor<5x4x3xf32> -> tensor<5x4x1xf32>
    %y = tcp.conv1d %x, %v {dilation = array<i64: 8>, pad = array<i64: 0, 0>, stride = array<i64: 1>}
        : tensor<1x4x6xf32>, tensor<5x4x1xf32> -> tensor<1x5x6xf32>
    ```
  }];
}

def TcpRaiseActivationsPass : StaticShapesPass<"tcp-raise-activations", "::mlir::func::FuncOp"> {
  let summary = "find activations that are written as arithmetic";
  let description = [{
    A product of x, a number and `1 + tanh(p)`, `1 + erf(p)` or `sigmoid(p)` becomes `tcp.gelu` or
    `tcp.silu` if the number and the coefficients of the polynomial p of x are those of its formula,
    as far as numbers of the element type can be.

    ```mlir
    %0 = tcp.mul %x, %half : tensor<8x64xf32>, tensor<1x1xf32> -> tensor<8x64xf32>
    %1 = tcp.mul %x, %c : tensor<8x64xf32>, tensor<1x1xf32> -> tensor<8x64xf32>  // 0.70710678
    %2 = tcp.erf %1 : tensor<8x64xf32> -> tensor<8x64xf32>
    %3 = tcp.add %2, %one : tensor<8x64xf32>, tensor<1x1xf32> -> tensor<8x64xf32>
    %y = tcp.mul %0, %3 : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<8x64xf32>
    ```

    becomes

    ```mlir
    %y = tcp.gelu %x : tensor<8x64xf32> -> tensor<8x64xf32>
    ```
  }];
}

def TcpFoldScaleIntoConvPass : StaticShapesPass<"tcp-fold-scale-into-conv", "::mlir::func::FuncOp"> {
  let summary = "fold scales and shifts that are weights into weights and one bias";
  let description = [{
    A multiplication or division by one number per output channel is folded into the weights of the
    preceding convolution or matrix product, also across a bias between the two. Additions of weights
    that follow each other after it become one. Does not apply if another op uses the unscaled value.
    Weights of less than 32 bits are multiplied in f32. Where the number is near 1 (0.9995 in a batch
    norm with eps 1e-3 and no training), rounding the products back would change all weights in the
    same direction. There, half of a unit in the last place is first added and subtracted in turn.

    ```mlir
    %0 = tcp.conv2d %x, %w : ...
    %1 = tcp.mul %0, %scale : tensor<1x64x56x56xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x56x56xf32>
    %2 = tcp.add %1, %shift : tensor<1x64x56x56xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x56x56xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.reshape %scale : tensor<1x64x1x1xf32> -> tensor<64x1x1x1xf32>
    %1 = tcp.mul %w, %0 : tensor<64x64x3x3xf32>, tensor<64x1x1x1xf32> -> tensor<64x64x3x3xf32>
    %2 = tcp.conv2d %x, %1 : ...
    %3 = tcp.add %2, %shift : tensor<1x64x56x56xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x56x56xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpSetDtypePass : StaticShapesPass<"tcp-set-dtype", "::mlir::func::FuncOp"> {
  let summary = "compute in another float type";
  let description = [{
    Converts every float tensor that depends on an input to `dtype`. Inputs are cast at their uses,
    results are cast back. Values that depend only on weights keep their type and are cast where
    they are combined with data. Squares, powers and exponentials that are only summed, and values
    computed only from such sums, keep the model's type: they may exceed the range of f16 although
    the final result does not. So does what is computed in f64 from values that a cast widened: the
    formula needs the precision. An empty `dtype` keeps all types.

    `keep-float32` names ops that compute in f32 if they would use a narrower type: `tcp.softmax` or
    `softmax` all ops of this type, `model.py:12` those of this line, and `layer1.0.conv1` those
    that use a weight of this module. Their operands are cast, and so are their results where others
    use them. A kept `tcp.cast` does not round. A name without ops is an error.

    ```mlir
    %0 = tcp.mul %x, %w : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.cast %x : tensor<8xf32> -> tensor<8xf16>
    %1 = tcp.cast %w : tensor<8xf32> -> tensor<8xf16>
    %2 = tcp.mul %0, %1 : tensor<8xf16>, tensor<8xf16> -> tensor<8xf16>
    %3 = tcp.cast %2 : tensor<8xf16> -> tensor<8xf32>
    return %3 : tensor<8xf32>
    ```
  }];
  let options = [
    Option<"dtype", "dtype", "std::string", "", "f32, f16 or bf16; empty: the model's types">,
    ListOption<"keepFloat32", "keep-float32", "std::string",
               "ops that compute in f32: types, lines and modules">
  ];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpRaiseAttentionPass : StaticShapesPass<"tcp-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "find attention that is written as products and a softmax";
  let description = [{
    For `cuda`, products and the softmax between them become `tcp.attention` where the support table
    accepts it. The scores may be scaled by positive numbers, also before their product; a tanh of
    them, which a positive number may scale, is a softcap; and masks may be added to them or replace
    them. Batch and heads may be one dim. Nothing else uses the scores. Rows of a mask that hide all columns become NaN, which a softmax computes for them:
    `tcp.attention` makes them 0. `@prepare_weights` does that for masks that are constant.

    For both targets, a mask that hides the columns after the own index of each row becomes
    `causal`, one that hides those a number before it or more becomes `window`, and only the
    other conditions remain in a mask that combines these with others by minus infinity. A mask of
    zeros is dropped, and heads of key and value that are repeated are shared.

    ```mlir
    %0 = tcp.matmul %q, %kt : tensor<1x12x128x64xf16>, tensor<1x12x64x128xf16> -> tensor<1x12x128x128xf16>
    %1 = tcp.mul %0, %c : tensor<1x12x128x128xf16>, tensor<1x1x1x1xf16> -> tensor<1x12x128x128xf16>
    %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<1x12x128x128xf16> -> tensor<1x12x128x128xf16>
    %o = tcp.matmul %2, %v : tensor<1x12x128x128xf16>, tensor<1x12x128x64xf16> -> tensor<1x12x128x64xf16>
    ```

    becomes

    ```mlir
    %k = tcp.transpose %kt {perm = array<i64: 0, 1, 3, 2>} : tensor<1x12x64x128xf16> -> tensor<1x12x128x64xf16>
    %o = tcp.attention %q, %k, %v {scale = 0.125 : f64}
        : tensor<1x12x128x64xf16>, tensor<1x12x128x64xf16>, tensor<1x12x128x64xf16> -> tensor<1x12x128x64xf16>
    ```
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "JSON file that replaces the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether f32 products may be rounded to TF32">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::convoy::cudnn::CudnnDialect"];
}

def TcpPadAttentionPass : StaticShapesPass<"tcp-pad-attention", "::mlir::func::FuncOp"> {
  let summary = "pad the heads of attention to multiples of 16 bytes (cuda)";
  let description = [{
    Attention in 16-bit floats that the support table refuses, but accepts if its last dims are
    multiples of 8, gets operands with zeros in the last dim. They change no score, and the columns
    of the result that they add are zeros.

    Where an operand is a view of a product with a weight, possibly with a bias, that nothing else
    reads, the weight and the bias get zero columns, so that the product computes the zeros. Other
    operands are copied. Where the result is the left factor of a product with a weight, that weight
    gets zero rows; elsewhere a slice removes the columns. Attention stays as it is if the copies
    read and write more elements than `tcp-decompose-attention` does for the scores.

    ```mlir
    %0 = tcp.matmul %x, %w : tensor<64x72xf16>, tensor<72x72xf16> -> tensor<64x72xf16>
    %1 = tcp.reshape %0 : tensor<64x72xf16> -> tensor<1x64x2x36xf16>
    %q = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x64x2x36xf16> -> tensor<1x2x64x36xf16>
    ```

    becomes

    ```mlir
    %2 = tcp.reshape %w : tensor<72x72xf16> -> tensor<72x2x36xf16>
    %3 = tcp.pad %2 {high = array<i64: 0, 0, 4>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<72x2x36xf16> -> tensor<72x2x40xf16>
    %4 = tcp.reshape %3 : tensor<72x2x40xf16> -> tensor<72x80xf16>
    %0 = tcp.matmul %x, %4 : tensor<64x72xf16>, tensor<72x80xf16> -> tensor<64x80xf16>
    %1 = tcp.reshape %0 : tensor<64x80xf16> -> tensor<1x64x2x40xf16>
    %q = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x64x2x40xf16> -> tensor<1x2x64x40xf16>
    ```
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "JSON file that replaces the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether f32 products may be rounded to TF32">,
  ];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::convoy::cudnn::CudnnDialect"];
}

def TcpDecomposeAttentionPass : StaticShapesPass<"tcp-decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "convert attention that cuDNN does not support to products and a softmax";
  let description = [{
    For `cpu`, and for attention that the support table refuses, e.g. heads with more than 256
    elements. Shared heads of key and value are not repeated: the query's rows of all heads that
    share one are the rows of one product.

    ```mlir
    %o = tcp.attention %q, %k, %v {scale = 0.125 : f64}
        : tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32> -> tensor<1x12x128x64xf32>
    ```
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "JSON file that replaces the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether f32 products may be rounded to TF32">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::convoy::cudnn::CudnnDialect"];
}

def TcpUnflattenProductsPass : StaticShapesPass<"tcp-unflatten-products", "::mlir::func::FuncOp"> {
  let summary = "give products with weights the dims that are merged to rows before them";
  let description = [{
    The rows of a product with a weight are independent. With all of its dims `tcp-channels-last` can
    compute it in any order of these, e.g. sentence by sentence although the model has the tokens
    first. The reshape that merges the rows sinks below the product and elementwise ops with rows of
    weights, where it often meets its inverse. `tcp-flatten-products` merges the rows again.

    ```mlir
    %0 = tcp.reshape %x : tensor<17x2x64xf32> -> tensor<34x64xf32>
    %1 = tcp.matmul %0, %w : tensor<34x64xf32>, tensor<64x256xf32> -> tensor<34x256xf32>
    %2 = tcp.reshape %1 : tensor<34x256xf32> -> tensor<17x2x256xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.reshape %w : tensor<64x256xf32> -> tensor<1x64x256xf32>
    %2 = tcp.matmul %x, %0 : tensor<17x2x64xf32>, tensor<1x64x256xf32> -> tensor<17x2x256xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpExpandProductsPass : StaticShapesPass<"tcp-expand-products", "::mlir::func::FuncOp"> {
  let summary = "write products with small weights as elementwise ops and sums";
  let description = [{
    A product with a weight of at most 16x16 elements is bound by memory, and fills no tile of tensor
    cores, e.g. a linear layer over the heads of attention scores. So is one of at most 4 terms, and
    one with matrices of at most 16 elements that are no weights, as rotations of points. As a sum of
    its terms, in f32, it has any order of dims, so that transposes around it cancel, and joins the
    elementwise ops around it in one kernel. A bias is added before the sum is rounded. A convolution
    of single elements is such a product too, unless other convolutions around it are channels-last.

    Other products remain: with few rows; with several weights, which tcp-merge-products merges; in
    loops, and before these; and those without a transpose before them whose multiplications would
    take longer than to move the rows.

    ```mlir
    %0 = tcp.matmul %x, %w : tensor<2048x2xf32>, tensor<2x8xf32> -> tensor<2048x8xf32>
    ```

    becomes

    ```mlir
    %1 = tcp.slice %x {sizes = array<i64: 2048, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2048x2xf32> -> tensor<2048x1xf32>
    %2 = tcp.slice %w {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x8xf32> -> tensor<1x8xf32>
    %3 = tcp.mul %1, %2 : tensor<2048x1xf32>, tensor<1x8xf32> -> tensor<2048x8xf32>
    %4 = tcp.slice %x {sizes = array<i64: 2048, 1>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>} : tensor<2048x2xf32> -> tensor<2048x1xf32>
    %5 = tcp.slice %w {sizes = array<i64: 1, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<2x8xf32> -> tensor<1x8xf32>
    %6 = tcp.mul %4, %5 : tensor<2048x1xf32>, tensor<1x8xf32> -> tensor<2048x8xf32>
    %0 = tcp.add %3, %6 : tensor<2048x8xf32>, tensor<2048x8xf32> -> tensor<2048x8xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpSwapProductsPass : StaticShapesPass<"tcp-swap-products", "::mlir::func::FuncOp"> {
  let summary = "compute products with weights between transposes without these";
  let description = [{
    A product with a weight between two transposes of the last dims contracts the second to last dim,
    e.g. over the tokens in models that mix these (MLP-Mixer). It is the product of the transposed
    weight with the tensor before the transpose. Products, and elementwise ops with weights or with
    transposed tensors, may follow each other between the transposes.

    ```mlir
    %0 = tcp.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<4x16x64xf16> -> tensor<4x64x16xf16>
    %1 = tcp.matmul %0, %w : tensor<4x64x16xf16>, tensor<1x16x32xf16> -> tensor<4x64x32xf16>
    %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<4x64x32xf16> -> tensor<4x32x64xf16>
    ```

    becomes

    ```mlir
    %0 = tcp.transpose %w {perm = array<i64: 0, 2, 1>} : tensor<1x16x32xf16> -> tensor<1x32x16xf16>
    %2 = tcp.matmul %0, %x : tensor<1x32x16xf16>, tensor<4x16x64xf16> -> tensor<4x32x64xf16>
    ```

    The transpose of the weight is computed once. Tensors with fewer than 32 columns, or a number that
    is no multiple of 8, are left: their products fill no tile of tensor cores.
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpChannelsLastPass : StaticShapesPass<"tcp-channels-last", "::mlir::func::FuncOp"> {
  let summary = "convert convolutions and pools to channels-last, and sink the transposes";
  let description = [{
    Transposes sink until they meet their inverse or the end of the function. They sink through
    elementwise ops, concat, pad, slice, reverse, broadcast, reductions, softmax, layer norms whose
    dims stay trailing, and reshapes that do not mix dims. If a weight is added or multiplied, it is
    transposed instead of the data. Where N x C x spatial is flattened for a product with weights,
    the rows of the weights are permuted. Elementwise ops whose results only convolutions use are
    computed channels-last as well, unless more bytes would be transposed, so that they can become a
    prologue. On a GPU a pooling keeps channels-first order if no convolution is computed from its
    input and no more bytes are transposed then. A product of rows with a weight is computed in the
    order in which its rows are stored, unless more bytes would be transposed after it. A group in
    the input keeps its ops, and the transposes are around it.

    ```mlir
    %0 = tcp.conv2d %x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
    %1 = tcp.reduce_mean %0 {dims = array<i64: 2, 3>} : tensor<1x4x6x6xf32> -> tensor<1x4x1x1xf32>
    %2 = tcp.reshape %1 : tensor<1x4x1x1xf32> -> tensor<1x4xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x8xf32> -> tensor<1x8x8x3xf32>
    %1 = tcp.transpose %w {perm = array<i64: 0, 2, 3, 1>} : tensor<4x3x3x3xf32> -> tensor<4x3x3x3xf32>
    %2 = tcp.conv2d %0, %1 {channels_last, ...} : tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32> -> tensor<1x6x6x4xf32>
    %3 = tcp.reduce_mean %2 {dims = array<i64: 1, 2>} : tensor<1x6x6x4xf32> -> tensor<1x1x1x4xf32>
    %4 = tcp.reshape %3 : tensor<1x1x1x4xf32> -> tensor<1x4xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::mlir::arith::ArithDialect"];
}

def TcpSinkCastsPass : StaticShapesPass<"tcp-sink-casts", "::mlir::func::FuncOp"> {
  let summary = "sink widening casts below ops that move elements";
  let description = [{
    A cast to a float type with more bits sinks below `index_select`, `slice` and `transpose`, which
    then move fewer bytes. Models in 16 bits have such casts before a resize, which PyTorch computes in
    f32.

    ```mlir
    %0 = tcp.cast %x : tensor<4x8xf16> -> tensor<4x8xf32>
    %1 = tcp.index_select %0, %rows {dim = 0 : index} : tensor<4x8xf32>, tensor<8xi32> -> tensor<8x8xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.index_select %x, %rows {dim = 0 : index} : tensor<4x8xf16>, tensor<8xi32> -> tensor<8x8xf16>
    %1 = tcp.cast %0 : tensor<8x8xf16> -> tensor<8x8xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpSplitGatesPass : StaticShapesPass<"tcp-split-gates", "::mlir::func::FuncOp"> {
  let summary = "split products whose halves are multiplied (cuda)";
  let description = [{
    A gated layer such as GEGLU is often one product with a weight, of whose columns one half is
    multiplied by a function of the other half. Two products write half as many columns: the group of
    the first one has the function, and that of the second one multiplies by its result. The pass
    splits a product, and the bias after it, if only slices read its result, which have all rows and a
    half of the columns each.

    ```mlir
    %0 = tcp.matmul %x, %w : tensor<34x64xf16>, tensor<64x256xf16> -> tensor<34x256xf16>
    %1 = tcp.slice %0 {sizes = array<i64: 34, 128>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<34x256xf16> -> tensor<34x128xf16>
    %2 = tcp.slice %0 {sizes = array<i64: 34, 128>, starts = array<i64: 0, 128>, strides = array<i64: 1, 1>} : tensor<34x256xf16> -> tensor<34x128xf16>
    %3 = tcp.gelu %2 {approximate = "none"} : tensor<34x128xf16> -> tensor<34x128xf16>
    %4 = tcp.mul %1, %3 : tensor<34x128xf16>, tensor<34x128xf16> -> tensor<34x128xf16>
    ```

    becomes

    ```mlir
    %w1 = tcp.slice %w {sizes = array<i64: 64, 128>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x256xf16> -> tensor<64x128xf16>
    %w2 = tcp.slice %w {sizes = array<i64: 64, 128>, starts = array<i64: 0, 128>, strides = array<i64: 1, 1>} : tensor<64x256xf16> -> tensor<64x128xf16>
    %1 = tcp.matmul %x, %w1 : tensor<34x64xf16>, tensor<64x128xf16> -> tensor<34x128xf16>
    %2 = tcp.matmul %x, %w2 : tensor<34x64xf16>, tensor<64x128xf16> -> tensor<34x128xf16>
    %3 = tcp.gelu %2 {approximate = "none"} : tensor<34x128xf16> -> tensor<34x128xf16>
    %4 = tcp.mul %1, %3 : tensor<34x128xf16>, tensor<34x128xf16> -> tensor<34x128xf16>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFlattenProductsPass : StaticShapesPass<"tcp-flatten-products", "::mlir::func::FuncOp"> {
  let summary = "collapse batch dims of matrix products, and sink reshapes of products below elementwise ops";
  let description = [{
    cuDNN's matrix products have at most three dims, and a group is a chain without reshapes. A batch
    of matrices that is multiplied by one matrix becomes one matrix. If a weight is the right factor,
    and repeats along batch dims, the matrices that are multiplied by the same copy become one matrix
    as well, with a transpose if these dims come first; then ops that move elements must read the
    result, and the copies be larger than what is transposed. The reshape of a product or of a
    convolution, e.g. from pixels to tokens, does not sink below an elementwise op if another operand
    of that op is broadcast (unless it is a single row), is a constant, or is a product or a
    convolution too.

    ```mlir
    %0 = tcp.matmul %x, %w : tensor<34x64xf32>, tensor<64x256xf32> -> tensor<34x256xf32>
    %1 = tcp.reshape %0 : tensor<34x256xf32> -> tensor<2x17x256xf32>
    %2 = tcp.gelu %1 {approximate = "none"} : tensor<2x17x256xf32> -> tensor<2x17x256xf32>
    ```

    becomes

    ```mlir
    %0 = tcp.matmul %x, %w : tensor<34x64xf32>, tensor<64x256xf32> -> tensor<34x256xf32>
    %1 = tcp.gelu %0 {approximate = "none"} : tensor<34x256xf32> -> tensor<34x256xf32>
    %2 = tcp.reshape %1 : tensor<34x256xf32> -> tensor<2x17x256xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpMergeProductsPass : StaticShapesPass<"tcp-merge-products", "::mlir::func::FuncOp"> {
  let summary = "merge products with the same left factor that attention reads through views (cuda)";
  let description = [{
    Query, key and value of attention are often three products of the same input with weights. One
    product with all columns fills a GPU better, and reads the input once. Its group has the biases,
    and attention reads slices of its result in place. Products whose results other products or
    convolutions read are not merged, because slices would be copied for these; nor are products
    that elementwise ops follow directly, which are computed in their groups.

    ```mlir
    %0 = tcp.matmul %x, %wk : tensor<34x64xf16>, tensor<64x32xf16> -> tensor<34x32xf16>
    %1 = tcp.matmul %x, %wv : tensor<34x64xf16>, tensor<64x32xf16> -> tensor<34x32xf16>
    ```

    becomes

    ```mlir
    %w = tcp.concat %wk, %wv {dim = 1 : i64} : tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x64xf16>
    %y = tcp.matmul %x, %w : tensor<34x64xf16>, tensor<64x64xf16> -> tensor<34x64xf16>
    %0 = tcp.slice %y {sizes = array<i64: 34, 32>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<34x64xf16> -> tensor<34x32xf16>
    %1 = tcp.slice %y {sizes = array<i64: 34, 32>, starts = array<i64: 0, 32>, strides = array<i64: 1, 1>} : tensor<34x64xf16> -> tensor<34x32xf16>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpUndilateConvsPass : StaticShapesPass<"tcp-undilate-convs", "::mlir::func::FuncOp"> {
  let summary = "compute strided transposed convolutions without zeros between elements (cuda)";
  let description = [{
    A convolution of an input with zeros between its elements, to which
    `tcp-decompose-conv-transpose` converts, multiplies mostly by zeros, and the zeros take memory.
    It is channels-last, with weights, and without groups and dilation.

    Over two spatial dims, with pixels of multiples of 16 bytes and equal padding on both sides, it
    becomes the gradient of a convolution, which cuDNN computes with an epilogue. Otherwise it
    becomes a convolution of the elements alone, whose channels are those of the pixels between two
    elements. Elementwise ops with rows of weights, such as a bias, move before the pixels are put in
    order. If only the last spatial dim has a stride, they are in order already. Else they are
    copied, if the convolution does not have more filters than channels.

    ```mlir
    %0 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64}
        : tensor<1x8x4xf32> -> tensor<1x15x4xf32>
    %y = tcp.conv1d %0, %w {channels_last, dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>}
        : tensor<1x15x4xf32>, tensor<2x2x4xf32> -> tensor<1x16x2xf32>
    ```

    becomes

    ```mlir
    // %v: the filters of the even outputs, then those of the odd ones
    %0 = tcp.conv1d %x, %v {channels_last, dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>}
        : tensor<1x8x4xf32>, tensor<4x1x4xf32> -> tensor<1x8x4xf32>
    %y = tcp.reshape %0 : tensor<1x8x4xf32> -> tensor<1x16x2xf32>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFlattenPatchesPass : StaticShapesPass<"tcp-flatten-patches", "::mlir::func::FuncOp"> {
  let summary = "compute convolutions of large patches of few channels as products (cuda)";
  let description = [{
    In a channels-last convolution without groups, padding and dilation whose stride is its window,
    as the patch embedding of a vision transformer, each element of the input is in one patch. If
    pixels are no multiple of 16 bytes, and patches have at least 128 elements and there are at
    least 64 filters, it becomes a convolution of single pixels, whose channels are the elements of
    a patch, in the order in which the input has them before a transpose. If necessary, zeros are
    added to the next multiple of 16 bytes. Elements behind the last patch are sliced off.

    ```mlir
    %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x224x224xf16> -> tensor<2x224x224x3xf16>
    %y = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 16, 16>}
        : tensor<2x224x224x3xf16>, tensor<768x16x16x3xf16> -> tensor<2x14x14x768xf16>
    ```

    becomes

    ```mlir
    %0 = tcp.reshape %x : tensor<2x3x224x224xf16> -> tensor<2x3x14x16x14x16xf16>
    %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 4, 1, 3, 5>} : tensor<2x3x14x16x14x16xf16> -> tensor<2x14x14x3x16x16xf16>
    %2 = tcp.reshape %1 : tensor<2x14x14x3x16x16xf16> -> tensor<2x14x14x768xf16>
    %3 = tcp.transpose %w {perm = array<i64: 0, 3, 1, 2>} : tensor<768x16x16x3xf16> -> tensor<768x3x16x16xf16>
    %4 = tcp.reshape %3 : tensor<768x3x16x16xf16> -> tensor<768x1x1x768xf16>
    %y = tcp.conv2d %2, %4 {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
        : tensor<2x14x14x768xf16>, tensor<768x1x1x768xf16> -> tensor<2x14x14x768xf16>
    ```
  }];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpPadChannelsPass : StaticShapesPass<"tcp-pad-channels", "::mlir::func::FuncOp"> {
  let summary = "pad channel counts for which cuDNN has no fast kernel (cuda)";
  let description = [{
    Pads the input and the weights of a channels-last convolution with 3 input channels and without
    groups with a fourth channel of zeros.

    ```mlir
    %y = tcp.conv2d %x, %w {channels_last, ...} : tensor<1x8x8x3xf16>, tensor<4x3x3x3xf16> -> tensor<1x6x6x4xf16>
    ```

    becomes

    ```mlir
    %0 = tcp.pad %x {high = array<i64: 0, 0, 0, 1>, ...} : tensor<1x8x8x3xf16> -> tensor<1x8x8x4xf16>
    %1 = tcp.pad %w {high = array<i64: 0, 0, 0, 1>, ...} : tensor<4x3x3x3xf16> -> tensor<4x3x3x4xf16>
    %y = tcp.conv2d %0, %1 {channels_last, ...} : tensor<1x8x8x4xf16>, tensor<4x3x3x4xf16> -> tensor<1x6x6x4xf16>
    ```
  }];
  let options = [Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpAlignChannelsPass : StaticShapesPass<"tcp-align-channels", "::mlir::func::FuncOp"> {
  let summary = "pad channels to multiples of 16 bytes (cuda)";
  let description = [{
    A channels-last convolution without groups over more than 16 channels, in 16-bit floats or f32
    that may be rounded to TF32, whose pixels are no multiple of 16 bytes, reads an input with more
    channels, for which its filters have zeros.

    If the input comes from a convolution with weights, through elementwise ops and poolings, that
    convolution computes the additional channels with filters of zeros. They have finite numbers
    as long as its input has, and slices remove them for all other uses. Otherwise the input is
    copied, unless that takes longer than a 1x1 window saves.

    ```mlir
    %0 = tcp.conv2d %x, %v {...} : tensor<1x8x8x64xf16>, tensor<26x1x1x64xf16> -> tensor<1x8x8x26xf16>
    %1 = tcp.clamp %0 {min_float = 0.0 : f32} : tensor<1x8x8x26xf16> -> tensor<1x8x8x26xf16>
    %y = tcp.conv2d %1, %w {...} : tensor<1x8x8x26xf16>, tensor<32x3x3x26xf16> -> tensor<1x8x8x32xf16>
    ```

    becomes

    ```mlir
    %2 = tcp.pad %v {high = array<i64: 6, 0, 0, 0>, ...} : tensor<26x1x1x64xf16> -> tensor<32x1x1x64xf16>
    %0 = tcp.conv2d %x, %2 {...} : tensor<1x8x8x64xf16>, tensor<32x1x1x64xf16> -> tensor<1x8x8x32xf16>
    %1 = tcp.clamp %0 {min_float = 0.0 : f32} : tensor<1x8x8x32xf16> -> tensor<1x8x8x32xf16>
    %3 = tcp.pad %w {high = array<i64: 0, 0, 0, 6>, ...} : tensor<32x3x3x26xf16> -> tensor<32x3x3x32xf16>
    %y = tcp.conv2d %1, %3 {...} : tensor<1x8x8x32xf16>, tensor<32x3x3x32xf16> -> tensor<1x8x8x32xf16>
    ```
  }];
  let options = [Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpHoistWeightsPass : StaticShapesPass<"tcp-hoist-weights", "::mlir::ModuleOp"> {
  let summary = "move ops that depend only on weights into @prepare_weights";
  let description = [{
    `@prepare_weights` has the weights of `@main` as arguments and returns the prepared weights,
    which `@main` takes instead. Constants stay in `@main`. A prepared weight has the name of the
    weight that it is computed from; a bias computed from several weights is named after the
    preceding filter. A value of more than 1 MiB that is more than 8 times as large as the weights
    that it depends on is computed in `@main`, because it takes up more memory than its weights in
    every artifact and in every program.

    ```mlir
    func.func @main(%x: tensor<2xf32> {tcp.input = "x"}, %w: tensor<2xf32> {tcp.weight = "w"}) -> (tensor<2xf32> {tcp.output = "0"}) {
      %0 = tcp.exp %w : tensor<2xf32> -> tensor<2xf32>
      %1 = tcp.mul %x, %0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<2xf32> {tcp.input = "x"}, %w: tensor<2xf32> {tcp.prepared = "w"}) -> (tensor<2xf32> {tcp.output = "0"})
        attributes {tcp.target = "cpu"} {
      %0 = tcp.mul %x, %w : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @prepare_weights(%w: tensor<2xf32> {tcp.weight = "w"}) -> (tensor<2xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
      %0 = tcp.exp %w : tensor<2xf32> -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "where @main runs: cpu or cuda">];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::mlir::func::FuncDialect"];
}

//===-- group ------------------------------------------------------------------------------------------------------------===//

def TcpOrderOpsPass : StaticShapesPass<"tcp-order-ops", "::mlir::func::FuncOp"> {
  let summary = "reorder ops if less memory is in use at the same time then";
  let description = [{
    Moves ops across the op at which the most bytes of temporaries are live: what reads a tensor for
    the last time is computed before it, or what writes a tensor that is read later is computed
    after it. Ops move only if the peak of the whole function falls by a 64th; all others keep their
    order, and so do ops with side effects. The bytes are an estimate: elementwise ops are
    computed with the op that reads them, and take the memory of an operand that is dead. With
    `remarks` a function that changes gets a remark with both peaks. Functions with
    `tcp.target = "cpu"` are unchanged.

    ```mlir
    %a = tcp.conv2d %x, %w0 ...   // twice the size of %x
    %b = tcp.conv2d %a, %w1 ...   // twice the size of %x
    %c = tcp.conv2d %b, %w2 {stride = array<i64: 2, 2>} ...
    %d = tcp.conv2d %x, %w3 {stride = array<i64: 2, 2>} ...  // before %a, so that %x is dead in %b
    %y = tcp.add %c, %d
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "report functions that change">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFormStemsPass : StaticShapesPass<"tcp-form-stems", "::mlir::func::FuncOp"> {
  let summary = "form groups of the first layers of convolutional networks, for Convoy's stem kernels";
  let description = [{
    A convolution of an NCHW image with few channels and stride 2, bias, relu and 3x3 max pooling
    become one group with the anchor `stem` (passes/common/Stem.h has the conditions). With
    `remarks` every other max pooling gets a remark with the reason. Functions with
    `tcp.target = "cpu"` are unchanged.
  }];
  let options = [Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
                 Option<"remarks", "remarks", "bool", "false", "explain why a max pooling does not end a stem">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFormRecurrentPass : StaticShapesPass<"tcp-form-recurrent", "::mlir::func::FuncOp"> {
  let summary = "form groups of the loops of recurrent networks, for Convoy's recurrent kernels";
  let description = [{
    A `tcp.scan` that is one direction of a layer of an LSTM, a GRU or an RNN becomes a group with the
    anchor `recurrent` (passes/common/Recurrent.h has the conditions). The results of the group are
    the stacked hidden states, of which the last state is a slice, and for an LSTM the last cell.
    With `remarks` every other scan gets a remark with the reason. Functions with
    `tcp.target = "cpu"` are unchanged.

    ```mlir
    %h, %y = tcp.scan trips 8 carried(%h0 : tensor<4x8xf16>) sliced(%x : tensor<8x4x8xf16>) invariant(%w : tensor<8x8xf16>) { ... }
    ```

    becomes

    ```mlir
    %y = tcp.isolated_group %h0, %x, %w attributes {anchor = "recurrent", pattern = "rnn_tanh"} { ... }
    %0 = tcp.slice %y {sizes = array<i64: 1, 4, 8>, starts = array<i64: 7, 0, 0>, strides = array<i64: 1, 1, 1>}
    %h = tcp.reshape %0
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "explain why a scan is not a recurrent layer">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFormGroupsPass : StaticShapesPass<"tcp-form-groups", "::mlir::func::FuncOp"> {
  let summary = "form groups of ops that cuDNN supports as one graph";
  let description = [{
    Each convolution, matrix product, pooling and spatial mean that the support table accepts
    becomes the anchor of a group. The group grows by the elementwise ops after the anchor (bias,
    residual, activation) as long as only one value leaves it. Several ops that read one value, as
    in `x * sigmoid(x)`, join together or not at all. Then the group grows by ops before the anchor,
    unless the kernel of a norm, a softmax or another elementwise op computes their operand and can
    compute them as well, and by ops that compute operands of those after it. Each candidate group is converted to its
    `cudnn.graph`, and the support table is queried about the operations of that graph. A group that
    cuDNN has no engine for, and a kernel of Convoy computes, is marked `only_kernel`. Ops outside of
    groups get the reason as `tcp.outside`. Functions with `tcp.target = "cpu"` are unchanged.

    ```mlir
    %0 = tcp.conv2d %x, %w {channels_last, ...} : tensor<1x56x56x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x56x56x64xf16>
    %1 = tcp.add %0, %b : tensor<1x56x56x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x56x56x64xf16>
    ```

    becomes

    ```mlir
    %1 = tcp.isolated_group %x, %w, %b attributes {anchor = "conv2d", pattern = "conv2d+bias"} { ... }
    ```
  }];
  let options = [Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
                 Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">];
  let dependentDialects = ["::convoy::tcp::TcpDialect", "::convoy::cudnn::CudnnDialect"];
}

def TcpVerifyGroupsPass : StaticShapesPass<"tcp-verify-groups", "::mlir::ModuleOp"> {
  let summary = "check that each group is one graph that the support table accepts";
  let description = [{
    A group has one anchor and one result, and the table has a row for the role of each operation
    that the group becomes. The rows of `kernels` count if the group is marked `only_kernel`. Does
    not change the module.
  }];
  let options = [Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
                 Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">];
  let dependentDialects = ["::convoy::cudnn::CudnnDialect"];
}

//===-- cudnn ------------------------------------------------------------------------------------------------------------===//

def TcpCollectOutsidePass : StaticShapesPass<"tcp-collect-outside", "::mlir::ModuleOp"> {
  let summary = "move the reasons of ops outside of groups into the manifest";
  let description = [{
    Each `tcp.outside` attribute becomes an entry `{op, location, reason}` of `outside` in
    `tcp.manifest`.
  }];
}

def ConvertTcpToCudnnPass : StaticShapesPass<"convert-tcp-to-cudnn", "::mlir::ModuleOp"> {
  let summary = "convert groups to cuDNN graphs and calls of them";
  let description = [{
    Each `tcp.isolated_group` becomes a `cudnn.execute` of a `cudnn.graph`; equal groups share one
    graph. The mark `only_kernel` becomes its `cudnn.preference`. The residual is added before the bias, the order of cuDNN's precompiled kernels.
    Intermediate tensors are f32.

    ```mlir
    cudnn.graph @conv2d_bias_relu_0(...) -> ... { ... }
    %o = tensor.empty() : tensor<1x56x56x64xf16>
    %y = cudnn.execute @conv2d_bias_relu_0 ins(%x, %w, %b : ...) outs(%o : tensor<1x56x56x64xf16>) -> tensor<1x56x56x64xf16>
    ```
  }];
  let dependentDialects = ["::convoy::cudnn::CudnnDialect", "::mlir::tensor::TensorDialect"];
}

def CudnnOutlineGraphsPass : Pass<"cudnn-outline-graphs", "::mlir::ModuleOp"> {
  let summary = "inline graphs as symbols and calls of them";
  let description = [{
    Each `cudnn.build_and_exec_graph` becomes a `cudnn.execute` of a `cudnn.graph`; equal graphs
    share one symbol. The handle is removed, because the runtime owns it. `cudnn.pointwise_relu`
    becomes `cudnn.pointwise relu_fwd`, and the redundant `spatial_dim_count` of convolutions is
    removed.
  }];
  let dependentDialects = ["::convoy::cudnn::CudnnDialect", "::mlir::tensor::TensorDialect"];
}

def CudnnOrderOperationsPass : Pass<"cudnn-order-operations", "::mlir::ModuleOp"> {
  let summary = "put operations into the order for which cuDNN has fast kernels";
  let description = [{
    In a `cudnn.graph` of one forward convolution and pointwise operations, residuals are added
    before the bias, because cuDNN has precompiled kernels for that order. If the last operation is
    an activation without such a kernel (`relu_fwd` with an upper clip, `sigmoid_fwd`, `tanh_fwd`,
    `elu_fwd`), an identity follows it, so that cuDNN generates a kernel. `convert-tcp-to-cudnn`
    does the same to the graphs that it creates; this pass is for hand-written graphs. With
    `remarks` each graph of another form gets a remark with the reason.

    ```mlir
    %1 = cudnn.pointwise add(%0, %bias) ...
    %2 = cudnn.pointwise add(%1, %residual) ...
    // becomes
    %1 = cudnn.pointwise add(%0, %residual) ...
    %2 = cudnn.pointwise add(%1, %bias) ...
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "emit a remark for each graph of another form">];
}

def CudnnVerifySupportPass : Pass<"cudnn-verify-support", "::mlir::ModuleOp"> {
  let summary = "fail on graphs that the support table refuses";
  let description = [{
    Each `cudnn.graph` must consist of one anchor and pointwise operations around it, or of
    pointwise operations alone, and the support table must accept each operation.
    `tcp-verify-groups` makes the same check on groups. Does not change the module.
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
  ];
}

def CudnnAddAlternativesPass : Pass<"cudnn-add-alternatives", "::mlir::ModuleOp"> {
  let summary = "add alternatives to graphs";
  let description = [{
    A `cudnn.graph` of one forward convolution or matrix product with pointwise operations gets a
    `cudnn.alternative` for each of the following, if the support table accepts its steps: the graph
    split after the anchor, and after its bias; the prologue as a separate graph; the other order of
    bias and residual, unsplit and split; a bias of zeros for a convolution without bias, which
    precompiled kernels require. Values between steps are rounded to the type of the anchor's
    operands, as PyTorch rounds the result of every op. Equal graphs share one symbol. An f32 stem,
    whose kernels use TF32, gets its convolution, which reads the NCHW image, and its pooling as
    separate graphs. A convolution marked `only_kernel` gets its parts that cuDNN has engines for. With `remarks` every missing alternative gets a remark with the reason.

    ```mlir
    cudnn.graph @conv2d_relu_0(%x: ..., %w: ...) -> ... { ... }
    // gets
    cudnn.graph @conv2d_0(%x: ..., %w: ...) -> ... { ... }
    cudnn.graph @relu_0(%x: ...) -> ... { ... }
    cudnn.alternative @conv2d_relu_0 "conv2d | relu" { ... }
    ```
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
    Option<"remarks", "remarks", "bool", "false", "explain which alternatives a graph lacks">,
  ];
}

//===-- linalg -----------------------------------------------------------------------------------------------------------===//

def TcpSinkReshapesPass : StaticShapesPass<"tcp-sink-reshapes", "::mlir::func::FuncOp"> {
  let summary = "move reshapes that merge dims after elementwise ops";
  let description = [{
    The reshape between a norm, a softmax or an elementwise op and an elementwise op moves after the
    latter, so that one kernel computes both. Other operands are reshaped instead.

    ```mlir
    %n = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x64x4x8xf32> -> tensor<2x64x4x8xf32>
    %r = tcp.reshape %n : tensor<2x64x4x8xf32> -> tensor<2x64x32xf32>
    %y = tcp.mul %r, %w : tensor<2x64x32xf32>, tensor<1x1x32xf32> -> tensor<2x64x32xf32>
    ```

    becomes

    ```mlir
    %n = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x64x4x8xf32> -> tensor<2x64x4x8xf32>
    %v = tcp.reshape %w : tensor<1x1x32xf32> -> tensor<1x1x4x8xf32>
    %m = tcp.mul %n, %v : tensor<2x64x4x8xf32>, tensor<1x1x4x8xf32> -> tensor<2x64x4x8xf32>
    %y = tcp.reshape %m : tensor<2x64x4x8xf32> -> tensor<2x64x32xf32>
    ```
  }];
}

def TcpSplitSoftmaxPass : StaticShapesPass<"tcp-split-softmax", "::mlir::func::FuncOp"> {
  let summary = "divide the sums of exponentials of long rows into parts";
  let description = [{
    In cuda functions, the maximum of a long row and the sum of the exponentials of differences from
    it come from those of parts of the row, which read it once: a softmax, and what has the same ops,
    as a log softmax. Rows are long that one block reduces in more time than three kernels take.

    The exponentials of shorter rows that come from floats of 16 bits get the attribute `tcp.narrow`
    if only the sum reads them: phase `linalg` may approximate them.

    ```mlir
    %m = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<8x65536xf32> -> tensor<8x1xf32>
    %z = tcp.sub %x, %m : tensor<8x65536xf32>, tensor<8x1xf32> -> tensor<8x65536xf32>
    %e = tcp.exp %z : tensor<8x65536xf32> -> tensor<8x65536xf32>
    %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<8x65536xf32> -> tensor<8x1xf32>
    ```

    becomes, apart from infinite maxima of parts, which are replaced by zero,

    ```mlir
    %p = tcp.reshape %x : tensor<8x65536xf32> -> tensor<8x64x1024xf32>
    %t = tcp.reduce_max %p {dims = array<i64: 2>} : tensor<8x64x1024xf32> -> tensor<8x64x1xf32>
    %d = tcp.sub %p, %t : tensor<8x64x1024xf32>, tensor<8x64x1xf32> -> tensor<8x64x1024xf32>
    %f = tcp.exp %d : tensor<8x64x1024xf32> -> tensor<8x64x1024xf32>
    %u = tcp.reduce_sum %f {dims = array<i64: 2>} : tensor<8x64x1024xf32> -> tensor<8x64x1xf32>
    %r = tcp.reduce_max %t {dims = array<i64: 1>} : tensor<8x64x1xf32> -> tensor<8x1x1xf32>
    %m = tcp.reshape %r : tensor<8x1x1xf32> -> tensor<8x1xf32>
    %w = tcp.sub %t, %r : tensor<8x64x1xf32>, tensor<8x1x1xf32> -> tensor<8x64x1xf32>
    %g = tcp.exp %w : tensor<8x64x1xf32> -> tensor<8x64x1xf32>
    %v = tcp.mul %u, %g : tensor<8x64x1xf32>, tensor<8x64x1xf32> -> tensor<8x64x1xf32>
    %q = tcp.reduce_sum %v {dims = array<i64: 1>} : tensor<8x64x1xf32> -> tensor<8x1x1xf32>
    %s = tcp.reshape %q : tensor<8x1x1xf32> -> tensor<8x1xf32>
    ```
  }];
}

def TcpShareConcatsPass : StaticShapesPass<"tcp-share-concats", "::mlir::func::FuncOp"> {
  let summary = "insert the inputs of concats that contain each other into one tensor";
  let description = [{
    A concat on the CPU of which consecutive inputs are the inputs of an earlier one, or its result,
    gets one tensor with it, if nothing reads the earlier one afterwards. The earlier concat is a
    slice of that tensor. Layers of a dense block copy each input once then, or write it in place.

    ```mlir
    %c = tcp.concat %a, %b {dim = 1 : i64} : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
    %d = "layer"(%c) : (tensor<4x5xf32>) -> tensor<4x3xf32>
    %e = tcp.concat %a, %b, %d {dim = 1 : i64} : tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x8xf32>
    ```

    becomes

    ```mlir
    %0 = tensor.empty() : tensor<4x8xf32>
    %1 = tensor.insert_slice %a into %0[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
    %2 = tensor.insert_slice %b into %1[0, 2] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x8xf32>
    %c = tensor.extract_slice %2[0, 0] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>
    %d = "layer"(%c) : (tensor<4x5xf32>) -> tensor<4x3xf32>
    %e = tensor.insert_slice %d into %2[0, 5] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ConvertTcpToLinalgPass : StaticShapesPass<"convert-tcp-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower tcp ops to linalg on tensors";
  let description = [{
    Elementwise ops become one `linalg.generic` each, convolutions and matrix products named ops,
    pooling and reductions a fill and a reduction. Floats narrower than f32 are computed and
    accumulated in f32. In a function whose `tcp.target` is "cuda" every op that moves elements
    becomes one generic, so that it is one kernel. Each op without a linalg form is an error.

    ```mlir
    %y = tcp.add %a, %b : tensor<1x64x8x8xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x8x8xf32>
    ==>
    %y = linalg.generic {indexing_maps = [#identity, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>, #identity], ...} ins(%a, %b) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def HoistTransposesPass : Pass<"convoy-hoist-transposes", "::mlir::ModuleOp"> {
  let summary = "move transposes of prepared weights from @main into @prepare_weights";
  let description = [{
    If the only user of a `tcp.prepared` argument of `@main` is a `linalg.transpose` or a float
    extension, possibly after reshapes, it moves to `@prepare_weights`; the argument and the result
    get the new type.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"convoy-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "fuse generics whose intermediate tensor has one user";
  let description = [{
    A producer is fused if its only user reads each element once, or if it only moves or converts
    elements. One that only repeats the elements of a smaller tensor may have several users. On `cuda`
    a reshape that removes dims of size 1 may be between a move and its user, and a reshape that
    splits dims may be between two generics without reductions. No computation is duplicated.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseReadsPass : Pass<"convoy-fuse-reads", "::mlir::func::FuncOp"> {
  let summary = "fuse ops that move elements into generics that read their results by index";
  let description = [{
    In cuda functions, slices, concats, and transposes of outer dims become part of the generics that
    read their results by index, if there are no other uses: the index of the element is computed
    there, also through reshapes. So `torch.roll` over two dims, which is slices and concats, is one
    kernel with the transpose after it, as are the halves of a rotary embedding and the pixels that a
    patch merges. A generic that reads a result that is computed by index, as that of a concat, reads
    it by index too. Sums and products are fused like moves if there is one read, about as many
    elements are read as there are, and the reader is no concat into which the result could be
    written: relative positions that are added to a part of the scores of attention. An interpolation
    between two elements is fused into another one, so that a bilinear resize is one kernel.

    ```mlir
    %low = linalg.generic ins(%x : tensor<8x64xf16>) {...} -> tensor<8x32xf16> // x[:, 32:]
    %y = linalg.generic outs(...) {
      %column = linalg.index 1 : index
      %first = arith.cmpi ult, %column, %c32 : index
      %0 = scf.if %first -> (f16) { %1 = tensor.extract %low[%row, %column] ... }
    // becomes
    %y = linalg.generic outs(...) {
      %column = linalg.index 1 : index
      %first = arith.cmpi ult, %column, %c32 : index
      %0 = scf.if %first -> (f16) { %1 = tensor.extract %x[%row, %column + 32] ... }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseSharedPass : Pass<"convoy-fuse-shared", "::mlir::func::FuncOp"> {
  let summary = "fuse elementwise generics whose intermediate tensor has other users too";
  let description = [{
    In cuda functions, a generic and a reader of its result with the same iteration space become one
    generic with the results of both, if all other users come later. One kernel stores the
    intermediate tensor, and the reader has its elements in registers. They are rounded as those in
    memory. No memory is read or written that was not before. Ops that may join the region of a
    reduction in phase `plan` stay apart.

    ```mlir
    %cell = linalg.generic ins(%gates, %state : tensor<1x2048xf16>, tensor<1x512xf16>) {...} -> tensor<1x512xf16>
    %hidden = linalg.generic ins(%gates, %cell : tensor<1x2048xf16>, tensor<1x512xf16>) {...} -> tensor<1x512xf16>
    // becomes
    %both:2 = linalg.generic ins(%gates, %state : tensor<1x2048xf16>, tensor<1x512xf16>) {...} -> (tensor<1x512xf16>, tensor<1x512xf16>)
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass : Pass<"convoy-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "split long reductions into parts of at most 2048 elements";
  let description = [{
    A generic that reduces more than 8192 elements to one becomes a generic that reduces parts of at
    most 2048 elements, and a generic that reduces the results of the parts, which is split in turn.
    So no accumulator sums more than 8192 numbers sequentially, and the parts are parallel. A third
    generic reduces the remainder; the second one starts from its result. On the CPU the sums of f32
    parts are added in f64. In cuda functions the parts have the size that takes the least time, by
    how often a thread of each kernel waits for loads, and shorter reductions are split as well if
    another launch takes less time than their few threads. Reductions of at most 65536 elements (262144 if there
    are many) stay whole if a later op also reads their input: `plan-group-rows` makes one kernel of
    them, in which a block shares each reduction.

    ```mlir
    linalg.generic {iterator_types = ["reduction"]} ins(%x : tensor<1000000xf32>) outs(%zero : tensor<f32>)
    // becomes
    %parts = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x, %unread : ...) outs(%zeros : tensor<500xf32>)
    linalg.generic {iterator_types = ["reduction"]} ins(%parts : tensor<500xf32>) outs(%zero : tensor<f32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ExpandMathPass : Pass<"convoy-expand-math", "::mlir::func::FuncOp"> {
  let summary = "expand transcendental functions";
  let description = [{
    `math.exp expm1 log tanh erf sin cos powf` of f32 and f64 become arithmetic and bit operations,
    so that loops vectorize and need no libm or libdevice. With the flag `afn`, `exp expm1 tanh erf
    powf` of f32 use `math.exp2`, an instruction of the GPU. In cuda functions, `sin cos` of f32 have a
    branch for small numbers. The other `math` ops (`sqrt`, `floor`, `ceil`,
    `roundeven`, `absf`, `copysign`) have instructions on both targets.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

//===-- plan -------------------------------------------------------------------------------------------------------------===//

def PackCpuWeightsPass : Pass<"plan-pack-cpu-weights", "::mlir::ModuleOp"> {
  let summary = "pack prepared filters in blocks of output channels (cpu programs)";
  let description = [{
    The filter of `linalg.conv_2d_nhwc_hwcf`, R x S x C x K in f32, becomes K/block x R x S x C x
    block, that of `linalg.conv_3d_ndhwc_dhwcf` likewise, and the right factor of `linalg.matmul`,
    C x K, becomes K/block x C x block, if it is a prepared weight. `@prepare_weights` packs it, and the
    convolution or product becomes an equivalent `linalg.generic`, with loops over the blocks and in a
    block. If `block` does not divide K, the last block is filled with zeros, and the op has one loop
    over all channels k, which reads the filter at k floordiv block and k mod block.
  }];
  let options = [Option<"block", "block", "int64_t", "32", "output channels per block; 0 disables packing">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def WeightOriginsPass : Pass<"plan-weight-origins", "::mlir::ModuleOp"> {
  let summary = "tell how each prepared weight is computed";
  let description = [{
    Results of `@prepare_weights`, and the arguments of `@main` for them, get `tcp.origin`: the
    SHA-256 of the ops that compute the weight, of the names of the original weights, and of all
    types. An artifact for several sizes stores and loads weights with equal origins once.
  }];
}

def PlanLoopStatePass : Pass<"plan-loop-state", "::mlir::func::FuncOp"> {
  let summary = "keep each tensor that a loop carries in one buffer";
  let description = [{
    A tensor that an `scf.for` yields is materialized in the value that it replaces: it is computed
    in that buffer if the previous value is not read any more. A tensor that is not computed in the
    step, or becomes two states, is copied. A state that becomes another state is copied before any is overwritten.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def PlanBufferizePass : Pass<"plan-bufferize", "::mlir::ModuleOp"> {
  let summary = "bufferize, with read-only arguments";
  let description = [{
    One-shot bufferization across function boundaries, which have identity layouts. Arguments belong
    to the caller and are never written.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def PlanStackedStatePass : Pass<"plan-stacked-state", "::mlir::func::FuncOp"> {
  let summary = "read the state of a loop where the step before stored it as an output";
  let description = [{
    A loop whose steps copy their element of a stack to a state loses the copy and the state: the
    stack gets one element more, the initial state, and a step reads the element before its own. If
    the loop runs in reverse, that is the element after its own. The elements must be aligned to 16
    bytes, because cuDNN and vector instructions access the state there.

    ```mlir
    scf.for %i = %c0 to %c256 step %c1 {
      %y = memref.subview %stack[%i, 0] [1, 512] [1, 1] : memref<256x512xf16> to ...
      cudnn.execute @cell ins(%state : memref<512xf16>) outs(%y : ...)
      memref.copy %y, %state : ...
    }
    // becomes
    %outputs = memref.subview %all[1, 0] [256, 512] [1, 1] : memref<257x512xf16> to ...
    scf.for %i = %c0 to %c256 step %c1 {
      %state = memref.subview %all[%i, 0] [1, 512] [1, 1] : memref<257x512xf16> to ...
      %y = memref.subview %outputs[%i, 0] [1, 512] [1, 1] : ...
      cudnn.execute @cell ins(%state : ...) outs(%y : ...)
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def PlanLoopBuffersPass : Pass<"plan-loop-buffers", "::mlir::func::FuncOp"> {
  let summary = "copy the arguments and constants that loops slice";
  let description = [{
    A slice whose offset depends on the step of a loop becomes a view of the arena. So an argument or
    a constant with such slices is copied to an allocation.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def PlanOutParamsPass : Pass<"plan-out-params", "::mlir::ModuleOp"> {
  let summary = "convert results to out-parameters";
  let description = [{
    Each result becomes a trailing argument with the result's attributes. If the result is an
    allocation or a reshape of one, and no loop slices it, the argument replaces the allocation;
    otherwise (e.g. a returned argument) the result is copied.

    ```mlir
    func.func @main(%x: memref<4xf32>) -> (memref<4xf32> {tcp.output = "0"})
    // becomes
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32> {tcp.output = "0"})
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ConcatInPlacePass : Pass<"plan-concat-in-place", "::mlir::func::FuncOp"> {
  let summary = "let kernels write their results into the concats that read them (cuda)";
  let description = [{
    Where only generated kernels use the buffer of a concat's input, the buffer becomes a slice of
    the concat's result: the kernels access it with strides, and the concat does not copy it. cuDNN's
    graphs may use it too if the slice is packed, as in a concat along the outermost dim. One kernel
    copies each run of neighboring inputs that stay. An input stays too if the copies beside it would
    take longer, or if threads could not write the slice by 16 bytes.

    ```mlir
    %a = memref.alloc() : memref<64x16xf16>
    linalg.exp ins(%x : memref<64x16xf16>) outs(%a : memref<64x16xf16>)
    %c = memref.alloc() : memref<64x48xf16>
    linalg.generic {iterator_types = ["parallel", "parallel"], ...} outs(%c : memref<64x48xf16>) {...} // %a or %y
    // becomes
    %c = memref.alloc() : memref<64x48xf16>
    %a = memref.subview %c[0, 0] [64, 16] [1, 1] : memref<64x48xf16> to memref<64x16xf16, strided<[48, 1]>>
    linalg.exp ins(%x : memref<64x16xf16>) outs(%a : memref<64x16xf16, strided<[48, 1]>>)
    %b = memref.subview %c[0, 16] [64, 32] [1, 1] : memref<64x48xf16> to memref<64x32xf16, strided<[48, 1], offset: 16>>
    linalg.generic ins(%y : memref<64x32xf16>) outs(%b : memref<64x32xf16, strided<[48, 1], offset: 16>>) {...}
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def GroupRowsPass : Pass<"plan-group-rows", "::mlir::func::FuncOp"> {
  let summary = "group reductions over the same rows and elementwise ops on these rows";
  let description = [{
    In cuda functions, moves reductions over the same dims and the elementwise ops that read or
    write the same rows, e.g. a softmax or a layer norm with the sum before it, into one
    `scf.execute_region`, which phase `host` lowers as one kernel. Ops may see the rows through
    reshapes and transposes. The rows are contiguous, or many short ones are contiguous across rows,
    as in a softmax over channels, or they have few elements together. Buffers that only these ops
    use move into the region and get no place in the arena.

    ```mlir
    scf.execute_region no_inline {
      %sum = memref.alloc() : memref<64xf32>
      linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
      linalg.generic {...} ins(%x : memref<64x768xf32>) outs(%sum : memref<64xf32>) {...}
      linalg.generic {...} ins(%x, %sum : memref<64x768xf32>, memref<64xf32>) outs(%y : memref<64x768xf32>) {...}
      scf.yield
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def GroupEpiloguesPass : Pass<"plan-group-epilogues", "::mlir::func::FuncOp"> {
  let summary = "group a reduction and the elementwise op on its result";
  let description = [{
    Moves a `linalg.fill`, the reduction into the filled buffer, and its only reader, if
    elementwise, into one `scf.execute_region`, which phase `host` lowers as one loop nest or one
    kernel. In cpu functions the reduction is a convolution or matrix product. In cuda functions it
    is any `linalg` reduction, and the elementwise op may read the result without its unit dims.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def WinogradFiltersPass : Pass<"plan-winograd-filters", "::mlir::func::FuncOp"> {
  let summary = "transform the filters of 3x3 convolutions for Winograd's algorithm (cpu programs)";
  let description = [{
    A packed convolution (`plan-pack-cpu-weights`) with a 3x3 filter, stride 1, any dilation, and enough
    pixels and channels gets the transform of its filter as a third input, K/block x 16 x C x block,
    unless it is larger than the caches. The body does not use it; `cpu-contractions` does. The program computes it in each run: it takes the time of a few
    pixels, and an artifact would have 2.8 times the filter else. With three spatial dims the filter is
    any number of frames of 3x3, each of which is transformed, K/block x frames x 16 x C x block, and
    stride and dilation between frames are arbitrary.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def PlanInPlacePass : Pass<"plan-in-place", "::mlir::func::FuncOp"> {
  let summary = "let kernels write results into operands that are dead (cuda)";
  let description = [{
    Where a `linalg` op with parallel loops only is the last one that reads a buffer and the first
    one that writes another of the same size, and each iteration reads the element that it writes at
    the same place, the result takes the operand's buffer. Graphs of cuDNN have no such guarantee
    and keep their buffers.

    ```mlir
    %a = memref.alloc() : memref<64x16xf16>
    cudnn.execute @conv ins(%x : ...) outs(%a : memref<64x16xf16>)
    %b = memref.alloc() : memref<64x16xf16>
    linalg.exp ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf16>)
    // becomes, if nothing reads %a later
    linalg.exp ins(%a : memref<64x16xf16>) outs(%a : memref<64x16xf16>)
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def GroupSiblingsPass : Pass<"plan-group-siblings", "::mlir::func::FuncOp"> {
  let summary = "group small ops that do not depend on each other (cuda)";
  let description = [{
    Moves elementwise `linalg` ops, and regions of `plan-group-rows` and `plan-group-epilogues`, into
    one `scf.execute_region` at the place of one of them if none depends on another: the lookups in
    several tables, the frequencies of a positional encoding, the activations of several heads. Phase
    `host` makes one kernel of those with blocks of equal size, of which each op has a part of the
    blocks. Ops that take longer than a launch stay. An op moves only across ops that access other
    bytes. The bytes that are live at the peak do not grow, unless they are few, and neither does the
    longest chain of ops that depend on each other. The numbers of ops, and how far they are apart,
    are bounded.

    ```mlir
    linalg.sin ins(%x : memref<4096x3xf16>) outs(%a : memref<4096x3xf16>)
    cudnn.execute @matmul ins(%a, %w : ...) outs(%y : ...)
    linalg.cos ins(%x : memref<4096x3xf16>) outs(%b : memref<4096x3xf16>)
    // becomes
    scf.execute_region no_inline {
      linalg.sin ins(%x : memref<4096x3xf16>) outs(%a : memref<4096x3xf16>)
      linalg.cos ins(%x : memref<4096x3xf16>) outs(%b : memref<4096x3xf16>)
      scf.yield
    }
    cudnn.execute @matmul ins(%a, %w : ...) outs(%y : ...)
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PlanArenaPass : Pass<"plan-arena", "::mlir::ModuleOp"> {
  let summary = "place all temporaries in one arena";
  let description = [{
    Each `memref.alloc` becomes a `memref.view` of a new trailing argument `memref<Nxi8>
    {tcp.arena}`, at an offset that is a multiple of 256. Buffers that are never live at the same
    time share bytes. All buffers that an op with regions uses are live at the same time. A
    `memref.subview` whose offset depends on the step of a loop becomes a `memref.view` of the arena
    as well. Reports an error for buffers whose uses it cannot track.

    The outputs of a function for `cuda` get places too (`tcp.arena_offset`): from its first write to
    the end of the function an output is live, and before that, temporaries may have its bytes.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CollectManifestPass : Pass<"collect-manifest", "::mlir::ModuleOp"> {
  let summary = "write inputs, outputs, weights and arena sizes into the module attribute tcp.manifest";
  let description = [{
    Shapes are those of the model, with the strides that `tcp.dim_order` gives them in memory. The
    attribute is removed.
  }];
}

//===-- host -------------------------------------------------------------------------------------------------------------===//

def AttachKernelsPass : Pass<"cudnn-attach-kernels", "::mlir::ModuleOp"> {
  let summary = "attach Convoy's kernels to graphs, as candidates besides cuDNN's plans";
  let description = [{
    A `cudnn.graph` gets kernels if it is a small convolution, a convolution of few channels or a
    product of few rows, each with sums and one relu after it, or a mean over whole images. Each
    kernel is in a separate `gpu.module` and calls a function of `runtime/device` with the graph's
    geometry as constants. Variants differ in the sizes of tiles or strips, and in sums that are
    split over warps or the blocks of a cluster. `cudnn.kernels` lists the kernels;
    `cudnn.preference` selects the first kernel (`kernel`) or cuDNN's first plan (`plan`) for runs
    without tuning. A graph marked `only_kernel` must get a kernel; a graph that only alternatives
    use gets none. With `remarks` every other graph without kernels gets a remark with
    the reason.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "oldest GPU architecture of the kernels">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
    Option<"remarks", "remarks", "bool", "false", "explain why a graph has no kernel">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def DescribeMatmulsPass : Pass<"cudnn-describe-matmuls", "::mlir::ModuleOp"> {
  let summary = "describe graphs that cuBLASLt can compute";
  let description = [{
    A `cudnn.graph` gets the attribute `cudnn.matmul` if it is one matrix product with an epilogue
    of cuBLASLt: a residual, a bias, and relu or the form of GELU with tanh as the last operation.
    The attribute has the numbers of the graph's arguments. Steps of alternatives get it too. With
    `remarks` every other graph gets a remark with the reason.

    ```mlir
    cudnn.graph @linear(%x: !x, %w: !w, %b: !b) -> !y {
      %0 = cudnn.matmul(%x, %w) type = f32 : !x, !w -> !v
      %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
      %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !v -> !y
      cudnn.return %2 : !y
    }
    // becomes
    cudnn.graph @linear(...) -> !y attributes {cudnn.matmul = {activation = "relu", bias = 2 : i64, left = 0 : i64, right = 1 : i64}}
    ```
  }];
  let options = [
    Option<"remarks", "remarks", "bool", "false", "explain why cuBLASLt cannot compute a graph">,
  ];
}

def AddRuntimeArgumentPass : Pass<"add-runtime-argument", "::mlir::ModuleOp"> {
  let summary = "add the runtime's table and a status to cuda functions";
  let description = [{
    Every function with `tcp.target = "cuda"` gets a first argument `!llvm.ptr`, a pointer to the
    `ConvoyRuntime` of `runtime/abi/convoy_abi.h`, and an `i32` result, which is 0 on success. A
    function that already has both is unchanged.

    ```mlir
    func.func @main(%x: memref<4xf32>) attributes {tcp.target = "cuda"} { return }
    // becomes
    func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 attributes {tcp.target = "cuda"} { return %c0_i32 : i32 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def ConvertCudnnExecuteToBackendPass : Pass<"convert-cudnn-execute-to-backend", "::mlir::ModuleOp"> {
  let summary = "convert calls of graphs to calls of the runtime";
  let description = [{
    In functions with `tcp.target = "cuda"` that have the runtime as their first argument,
    `cudnn.execute` becomes `cudnn_backend.execute_graph` with the number of the call. Adds `calls`
    to the manifest: for each call the index of its graph in the module, and its source location.
  }];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect"];
}

def ConvertCudnnGraphsToBackendPass : Pass<"convert-cudnn-graphs-to-backend", "::mlir::ModuleOp"> {
  let summary = "convert each cudnn.graph to the function that builds it";
  let description = [{
    Each `cudnn.graph @NAME` becomes `cudnn_backend.func @NAME_build`, in place. Tensors are
    numbered from 1: arguments, results, then virtual tensors in program order. Tensors of rank 1
    and 2 get leading dims of 1, since cuDNN requires three dims. Operators with equal attributes
    share one descriptor. All descriptors but the graph's are destroyed once the graph is finalized,
    because cuDNN copies attributes. Adds `graphs` to the manifest.
  }];
  let options = [Option<"minimumVersion", "minimum-version", "int64_t", "::convoy::cudnn_backend::kMinimumCudnn", "oldest cuDNN that the program supports, as CUDNN_VERSION">];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect"];
}

def MapKernelsPass : Pass<"gpu-map-kernels", "::mlir::ModuleOp"> {
  let summary = "convert linalg on memrefs to kernels and launches (cuda functions)";
  let description = [{
    Each linalg op of a function with `tcp.target = "cuda"`, and each region of
    `plan-group-epilogues` or `plan-group-rows`, becomes a kernel in `gpu.module @kernels`. The ops in
    a region of `plan-group-siblings` share one: the blocks of the first op come first, and those of
    the others follow. Ops with blocks of another size, or more shared memory than one block should
    have, get another kernel. Its arguments are pointers;
    all sizes and offsets are constants. Threads iterate over the output in memory order; a thread
    computes up to 16 bytes of it, or a whole innermost dim of up to 8 elements, including the
    reduction. A reduction along contiguous memory is split over a warp, or several if there are too
    few rows to fill a GPU. A reduction along columns with too few outputs is split over the threads
    of a block. Each thread has up to 8 loads in flight. A `linalg.fill` whose result the op overwrites, reduces into or completes
    (padding) becomes part of the op's kernel. Equal kernels are shared.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "GPU architecture of the PTX">];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::DLTIDialect"];
}

def CollectStepsPass : Pass<"collect-steps", "::mlir::ModuleOp"> {
  let summary = "list the runtime calls of @main in the manifest, in program order (cuda)";
  let description = [{
    The key `steps` of `tcp.manifest` gets a dictionary for each op of `@main` that calls the
    runtime: `{call = N}` for `cudnn_backend.execute_graph`, `{kernel = N}` for
    `cudnn_backend.launch_kernel`, `{copy = BYTES}` for `cudnn_backend.copy`. Readers of the
    artifact get the sequence of calls without running the program. The key `live` gets the bytes
    of the arena that are live during each of them, and `gap_offsets` and `gap_bytes` the largest
    part of it without live bytes, where the runtime may place the workspace of the call. A view of
    the arena without `tcp.buffer` may have any bytes of it, so there are no gaps then.
  }];
}

def CpuContractionsPass : Pass<"cpu-contractions", "::mlir::func::FuncOp"> {
  let summary = "lower f32 convolutions, matrix products and reductions to register tiles (cpu functions)";
  let description = [{
    Lowers `linalg.conv_2d_nhwc_hwcf`, `linalg.conv_3d_ndhwc_dhwcf`, the packed forms of
    `plan-pack-cpu-weights`, `linalg.matmul` and `linalg.batch_matmul`, standalone or in the regions
    of `plan-group-epilogues`. A tile of pixels times vectors of output channels stays in registers
    over the whole reduction; tiles are the iterations of one `scf.parallel`. A convolution with a
    transformed filter uses Winograd's algorithm F(2x2, 3x3), with 2.25 times fewer multiplications,
    and computes blocks of which not all results are finite directly. With three spatial dims its
    products are sums over the frames of the window.

    Other f32 reductions, such as poolings, keep vectors of results in registers if neighbouring
    results reduce neighbouring elements. Those of contiguous elements, such as the maximum of a
    softmax, have vectors of partial results.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 elements per vector register">,
                 Option<"registers", "registers", "int64_t", "32", "number of vector registers">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuLoopsPass : Pass<"cpu-loops", "::mlir::func::FuncOp"> {
  let summary = "lower linalg on memrefs to loops (cpu functions)";
  let description = [{
    Lowers all linalg ops that earlier passes have not lowered. The outermost loops over parallel
    dims become one `scf.parallel` if there is enough work.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect"];
}

def CpuParallelPass : Pass<"cpu-parallel", "::mlir::ModuleOp"> {
  let summary = "outline the bodies of parallel loops to functions of an iteration range (cpu functions)";
  let description = [{
    ```mlir
    scf.parallel (%i) = (%c0) to (%c8) step (%c1) { ... %m ... }
    // becomes
    func.call @main_parallel_0(%c0, %c8, %m) {convoy.parallel} : (index, index, memref<...>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
}

def CpuOutlineLoopsPass : Pass<"cpu-outline-loops", "::mlir::ModuleOp"> {
  let summary = "outline the remaining loops to functions; equal loops share one (cpu functions)";
  let description = [{
    Keeps LLVM's compile time linear in the number of layers. Calls of these functions are not
    inlined.

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 { ... %m ... }
    // becomes
    func.call @prepare_weights_loop_0(%m) : (memref<...>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

//===-- llvm -------------------------------------------------------------------------------------------------------------===//

def GpuToNvvmPass : Pass<"llvm-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower kernels to nvvm, with math as instructions only";
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def VerifyKernelsPass : Pass<"llvm-verify-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "check that kernels call nothing outside their module";
}

def KernelsToPtxPass : Pass<"kernels-to-ptx", "::mlir::ModuleOp"> {
  let summary = "compile every gpu.module to PTX, linked with the kernel library";
  let description = [{
    Each `gpu.module`, which has one target, becomes a `gpu.binary` with one object, its PTX.
    Functions of `runtime/device` that it calls are linked in and compiled with it. Modules are
    compiled in parallel on the context's threads; the result does not depend on their number.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def LowerToLLVMPass : Pass<"lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower all remaining ops to the llvm dialect, with memrefs as bare pointers";
  let description = [{
    Functions become internal, except the builders of cuDNN graphs (`*_build`) and declarations.
    Bare pointers have no size, so each memref argument of `@main` and `@prepare_weights` gets
    `tcp.bytes`, which llvm-entry-points reads.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ParallelCallsPass : Pass<"llvm-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "convert calls marked convoy.parallel to calls of convoy_parallel_for";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EntryPointsPass : Pass<"llvm-entry-points", "::mlir::ModuleOp"> {
  let summary = "add convoy_main, convoy_prepare_weights, convoy_abi_version and convoy_sizes";
  let description = [{
    The symbols of `runtime/abi/convoy_abi.h`. The functions unpack the pointer arrays by the
    attributes of the arguments of `@main` and `@prepare_weights` (`tcp.input`, `tcp.weight`,
    `tcp.prepared`, `tcp.output`, `tcp.arena`). `tcp.bytes` of each argument, which lower-to-llvm
    adds, is its size in `convoy_sizes`. The pass removes these attributes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertCudnnBackendToLLVMPass : Pass<"convert-cudnn-backend-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower cudnn_backend and the functions that use it to llvm";
  let description = [{
    A `cudnn_backend.func` becomes data (`runtime/support/convoy_calls.h`) and a function that
    passes it to `convoy_make_calls`, which makes the calls through `ConvoyCudnn`. Calls of the
    runtime go through `ConvoyRuntime`. Both tables are in `runtime/abi/convoy_abi.h`. Expects
    modules of `cudnn_backend`, `func`, `memref` and `arith`, with memrefs as bare pointers. Whole
    programs are lowered by lower-to-llvm, with the same patterns.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // CONVOY_PASSES
