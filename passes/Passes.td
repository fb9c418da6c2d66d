// Every pass, in the order of passes/pipeline/Pipeline.cpp: the table of contents of this folder.
// docs/architecture.md says what is legal after each phase.

#ifndef CONVOY_PASSES
#define CONVOY_PASSES

include "mlir/Pass/PassBase.td"

//===-- common -----------------------------------------------------------------------------------------------------------===//

def VerifyPhasePass : Pass<"convoy-verify-phase", "::mlir::ModuleOp"> {
  let summary = "check that only ops that are legal after a phase are left";
  let description = [{
    Reads the module, changes nothing, and names every op whose dialect is not legal at the end of
    `phase`, with a count an op name.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "name of the phase that has just ended">];
}

//===-- normalize --------------------------------------------------------------------------------------------------------===//

def TcpDecomposeConvTransposePass : Pass<"tcp-decompose-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "transposed convolutions as plain ones";
  let description = [{
    Puts `stride - 1` zeros between the input's elements, swaps the weights' channels group by group
    and turns their window around. Padding that is negative after that cuts the input.

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

def TcpFoldScaleIntoConvPass : Pass<"tcp-fold-scale-into-conv", "::mlir::func::FuncOp"> {
  let summary = "fold scales and shifts made of weights into weights and one bias";
  let description = [{
    A product with, or quotient by, one number an output channel goes into the weights of the
    convolution or matrix product before it, through a bias between the two; sums with weights that
    follow each other become one. Not where another op uses the unscaled value. Weights of less than
    32 bits are multiplied in f32.

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

def TcpSetDtypePass : Pass<"tcp-set-dtype", "::mlir::func::FuncOp"> {
  let summary = "compute in another float type";
  let description = [{
    Every float tensor that depends on an input gets `dtype`. Inputs are cast at their use, results
    cast back; what depends on weights alone keeps its type and is cast where data meets it.
    Squares, powers and exponentials that are only summed up, and what is made of such sums alone,
    keep the model's type: they leave f16's range where the result does not. Empty: no change.

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
  let options = [Option<"dtype", "dtype", "std::string", "", "f32, f16 or bf16; empty: the model's own">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpChannelsLastPass : Pass<"tcp-channels-last", "::mlir::func::FuncOp"> {
  let summary = "channels as the last dim in convolutions and pools, transposes moved down until they meet an inverse or the end";
  let description = [{
    Transposes pass elementwise ops, concat, pad, slice, reverse, broadcast, reductions, softmax,
    layer norms whose dims stay trailing, and reshapes that do not mix dims; weights that are added
    or multiplied are transposed instead of data. Where N x C x spatial is flattened for a product
    with weights, the weights' rows are put into the new order.

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

def TcpFlattenProductsPass : Pass<"tcp-flatten-products", "::mlir::func::FuncOp"> {
  let summary = "batch dims of matrix products as one, reshapes of products behind the elementwise ops on them";
  let description = [{
    cuDNN multiplies matrices in at most three dims, and a group is one chain without reshapes. A
    reshape stays where an operand of the op behind it repeats in the result, unless it is one row,
    where it is a constant, and where it is a product as well.

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

def TcpPadChannelsPass : Pass<"tcp-pad-channels", "::mlir::func::FuncOp"> {
  let summary = "fill up channel counts that cuDNN has no fast kernel for (cuda)";
  let description = [{
    A channels-last convolution without groups over 3 channels gets a fourth of zeros, in its input
    and its weights.

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

def TcpHoistWeightsPass : Pass<"tcp-hoist-weights", "::mlir::ModuleOp"> {
  let summary = "move what depends on weights alone into @prepare_weights";
  let description = [{
    `@prepare_weights` takes every weight of `@main` and returns what data meets; `@main` takes that
    instead. Constants stay. A prepared weight has the name of the weight that it was made of; a
    bias made of several weights is called after the filter before it.

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

def TcpFormStemsPass : Pass<"tcp-form-stems", "::mlir::func::FuncOp"> {
  let summary = "put the first layers of convolutional networks into groups for a kernel of our own";
  let description = [{
    An image in planes, convolution with stride 2 from few channels, bias, relu and 3x3 max pooling
    become one group with the anchor `stem` (passes/common/Stem.h has the conditions). With
    `remarks` every other max pooling says why it ends none. Functions with `tcp.target = "cpu"`
    stay as they are.
  }];
  let options = [Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
                 Option<"remarks", "remarks", "bool", "false", "say of every max pooling that ends no stem why">];
  let dependentDialects = ["::convoy::tcp::TcpDialect"];
}

def TcpFormGroupsPass : Pass<"tcp-form-groups", "::mlir::func::FuncOp"> {
  let summary = "put what cuDNN takes as one graph into groups";
  let description = [{
    Each convolution, matrix product, pooling and spatial mean that the support table accepts
    becomes the anchor of a group. The group grows by the elementwise ops after it (bias, residual,
    activation) as long as one value leaves it: a value that several of them read, as in
    `x * sigmoid(x)`, is taken with all of them. Then it grows by those before the anchor, and by
    those that compute the operands of the ops after it, that no other group took. Each candidate
    is converted to its `cudnn.graph`, and the support table is asked about the operations of that.
    Ops that stay outside get `tcp.outside`, the reason. Functions with `tcp.target = "cpu"` stay
    as they are.

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

def TcpVerifyGroupsPass : Pass<"tcp-verify-groups", "::mlir::ModuleOp"> {
  let summary = "check that each group is one graph that the support table accepts";
  let description = [{
    Changes nothing. A group has one anchor and one result, and a row of the table accepts the role
    of each operation that it becomes.
  }];
  let options = [Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
                 Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">];
  let dependentDialects = ["::convoy::cudnn::CudnnDialect"];
}

//===-- cudnn ------------------------------------------------------------------------------------------------------------===//

def TcpCollectOutsidePass : Pass<"tcp-collect-outside", "::mlir::ModuleOp"> {
  let summary = "move the reasons of ops outside the groups into the manifest";
  let description = [{
    Each op with `tcp.outside` becomes an entry `{op, location, reason}` of `outside` in
    `tcp.manifest`, and loses the attribute.
  }];
}

def ConvertTcpToCudnnPass : Pass<"convert-tcp-to-cudnn", "::mlir::ModuleOp"> {
  let summary = "groups as cuDNN graphs and calls of them";
  let description = [{
    Each `tcp.isolated_group` becomes a `cudnn.execute` of a `cudnn.graph`; groups that are equal
    share one. Residual sums come before the bias, which cuDNN has precompiled kernels for. What
    lies between two operations is f32.

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
    Each `cudnn.build_and_exec_graph` becomes a `cudnn.execute` of a `cudnn.graph`, equal graphs
    being one. The handle is the runtime's and is dropped; `cudnn.pointwise_relu` becomes
    `cudnn.pointwise relu_fwd`, and a convolution loses its `spatial_dim_count`, which the rank
    says.
  }];
  let dependentDialects = ["::convoy::cudnn::CudnnDialect", "::mlir::tensor::TensorDialect"];
}

def CudnnOrderOperationsPass : Pass<"cudnn-order-operations", "::mlir::ModuleOp"> {
  let summary = "put operations into the order that cuDNN has fast kernels for";
  let description = [{
    In a `cudnn.graph` of one forward convolution and pointwise operations, sums with residuals move
    before the sum with the bias: for that order cuDNN has precompiled kernels. An activation at the
    end that has none (`relu_fwd` with an upper clip, `sigmoid_fwd`, `tanh_fwd`, `elu_fwd`) gets an
    identity after it, for which cuDNN generates a kernel. `convert-tcp-to-cudnn` does the same to
    the graphs that it makes; the pass is for graphs that are written by hand. With `remarks` a
    graph of another form says why it stays as it is.

    ```mlir
    %1 = cudnn.pointwise add(%0, %bias) ...
    %2 = cudnn.pointwise add(%1, %residual) ...
    // becomes
    %1 = cudnn.pointwise add(%0, %residual) ...
    %2 = cudnn.pointwise add(%1, %bias) ...
    ```
  }];
  let options = [Option<"remarks", "remarks", "bool", "false", "say which graphs have another form, and why">];
}

def CudnnVerifySupportPass : Pass<"cudnn-verify-support", "::mlir::ModuleOp"> {
  let summary = "fail on graphs that the support table refuses";
  let description = [{
    Each `cudnn.graph` has to be one anchor with pointwise operations around it, or pointwise
    operations alone, and the support table has to accept each of them. `tcp-verify-groups` asks the
    same of groups before they are graphs.
  }];
  let options = [
    Option<"supportTable", "support-table", "std::string", "", "file to read instead of the built-in support table">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
  ];
}

def CudnnAddAlternativesPass : Pass<"cudnn-add-alternatives", "::mlir::ModuleOp"> {
  let summary = "offer graphs other ways to be computed";
  let description = [{
    A `cudnn.graph` of one forward convolution or matrix product with pointwise operations gets a
    `cudnn.alternative` for each other way whose steps the support table takes: cut behind the
    anchor and behind its bias; what comes before the anchor as a graph of its own; the other order
    of bias and residual, whole and cut; a convolution that has no bias with one of zeros, which
    precompiled kernels want. What goes from one step to the next is rounded to the type of the
    anchor's operands, as torch rounds the result of every op. Equal graphs are one symbol. A stem
    in f32, whose kernels use TF32, gets its convolution, which reads the image in planes, and its
    pooling as a graph each. With `remarks` a graph says which alternatives it has not, and why.

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
    Option<"remarks", "remarks", "bool", "false", "say which alternatives a graph has not, and why">,
  ];
}

//===-- linalg -----------------------------------------------------------------------------------------------------------===//

def ConvertTcpToLinalgPass : Pass<"convert-tcp-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "lower tcp ops to linalg on tensors";
  let description = [{
    Elementwise ops become one `linalg.generic` each, convolutions and matrix products named ops,
    pooling and reductions a fill and a reduction. Floats narrower than f32 are computed and
    accumulated in f32. In a function whose `tcp.target` is "cuda" every op that moves elements
    becomes one generic, so that it is one kernel. Ops that have no form in linalg are each an
    error.

    ```mlir
    %y = tcp.add %a, %b : tensor<1x64x8x8xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x8x8xf32>
    ==>
    %y = linalg.generic {indexing_maps = [#identity, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>, #identity], ...} ins(%a, %b) ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def HoistTransposesPass : Pass<"convoy-hoist-transposes", "::mlir::ModuleOp"> {
  let summary = "move transpositions of prepared weights from @main into @prepare_weights";
  let description = [{
    A `linalg.transpose` or a widening of floats (and reshapes before them) that is the only user of
    a `tcp.prepared` argument of `@main` is computed by `@prepare_weights` instead; the argument and
    the result get the new type.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"movedCount", "moved", "ops moved into @prepare_weights">];
}

def FuseElementwisePass : Pass<"convoy-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "join generics whose intermediate tensor has one user";
  let description = [{
    A producer is fused when its only user reads each element once, or when it only moves or
    converts elements. Nothing is computed twice.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass : Pass<"convoy-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "long reductions in steps of at most 2048 elements";
  let description = [{
    A generic that reduces more than 8192 elements into one becomes one that reduces parts of at
    most 2048, and one that reduces the parts' results, in turn split. So no accumulator takes up
    more than 8192 numbers one by one, and the parts are parallel. What does not divide is reduced
    by a third generic, from whose result the second one starts. For the CPU the sums of f32 parts
    are added in f64.

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
  let summary = "write out transcendental functions";
  let description = [{
    `math.exp expm1 log tanh erf sin cos powf` of f32 and f64 become arithmetic and bit operations,
    so that no libm or libdevice is needed and loops vectorize. What is left of `math` (`sqrt`,
    `floor`, `ceil`, `roundeven`, `absf`, `copysign`) has instructions on both targets.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

//===-- plan -------------------------------------------------------------------------------------------------------------===//

def PackCpuWeightsPass : Pass<"plan-pack-cpu-weights", "::mlir::ModuleOp"> {
  let summary = "prepared filters in blocks of output channels (programs for cpu)";
  let description = [{
    The filter of `linalg.conv_2d_nhwc_hwcf`, R x S x C x K in f32, becomes K/block x R x S x C x
    block when `block` divides K and it is a prepared weight; `@prepare_weights` does the packing,
    and the convolution becomes a `linalg.generic` with the same meaning.
  }];
  let options = [Option<"block", "block", "int64_t", "32", "output channels of a block; 0 packs nothing">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlanBufferizePass : Pass<"plan-bufferize", "::mlir::ModuleOp"> {
  let summary = "tensors to buffers, arguments read-only";
  let description = [{
    One-shot bufferization across function boundaries, identity layouts there. Arguments belong to
    the caller and are never written.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def PlanOutParamsPass : Pass<"plan-out-params", "::mlir::ModuleOp"> {
  let summary = "results become arguments that are computed into";
  let description = [{
    Each result becomes a last argument with the result's attributes. Where the result is an
    allocation, or a reshape of one, the argument takes the allocation's place; elsewhere (an
    argument returned as it came) it is copied.

    ```mlir
    func.func @main(%x: memref<4xf32>) -> (memref<4xf32> {tcp.output = "0"})
    // becomes
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32> {tcp.output = "0"})
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def GroupEpiloguesPass : Pass<"plan-group-epilogues", "::mlir::func::FuncOp"> {
  let summary = "a reduction and the elementwise op on its result in one region";
  let description = [{
    `linalg.fill`, a reduction into the filled buffer, and the only op that reads the result, when
    that one is elementwise, move into one `scf.execute_region`. Phase `host` lowers it as one loop
    nest or one kernel. In functions for cpu the reduction is a convolution or matrix product. In
    functions for cuda it is any `linalg` reduction, and the elementwise op may read the result
    without its unit dims.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PlanArenaPass : Pass<"plan-arena", "::mlir::ModuleOp"> {
  let summary = "give every temporary a place in one arena";
  let description = [{
    Each `memref.alloc` becomes a `memref.view` of a new last argument `memref<Nxi8> {tcp.arena}`,
    at an offset that is a multiple of 256. Buffers that are never live at the same time share
    bytes. All buffers that an op with regions uses live at the same time. Refuses code whose
    buffers it cannot follow.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CollectManifestPass : Pass<"collect-manifest", "::mlir::ModuleOp"> {
  let summary = "write inputs, outputs, weights and arena sizes into the module attribute tcp.manifest";
}

//===-- host -------------------------------------------------------------------------------------------------------------===//

def AttachKernelsPass : Pass<"cudnn-attach-kernels", "::mlir::ModuleOp"> {
  let summary = "offer graphs kernels of our own, beside cuDNN's plans";
  let description = [{
    A `cudnn.graph` that is a small convolution, one of few channels or a product of few rows, with
    sums and one relu after it, or a mean over whole images, gets kernels, each in a `gpu.module` of
    its own that calls a function of `runtime/device` with the graph's geometry as constants: tiles
    or strips of different sizes, and sums that are shared by warps or the blocks of a cluster.
    `cudnn.kernels` lists them, and `cudnn.preference` says whether the first of them (`kernel`) or
    cuDNN's first plan (`plan`) is to run where nothing was measured. A graph marked `only_kernel`,
    a stem, gets the one that it must have, one that only alternatives run none. With `remarks`
    every other graph without says why.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "oldest GPU architecture of the kernels">,
    Option<"allowTf32", "allow-tf32", "bool", "true", "whether products of f32 may be rounded to TF32">,
    Option<"remarks", "remarks", "bool", "false", "say of every graph without a kernel why">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AddRuntimeArgumentPass : Pass<"add-runtime-argument", "::mlir::ModuleOp"> {
  let summary = "give functions for cuda the runtime's table and a status";
  let description = [{
    Every function with `tcp.target = "cuda"` gains a first argument `!llvm.ptr`, a pointer to the
    `ConvoyRuntime` of `runtime/abi/convoy_abi.h`, and an `i32` result, 0 when all went well. A
    function that has both already is left alone.

    ```mlir
    func.func @main(%x: memref<4xf32>) attributes {tcp.target = "cuda"} { return }
    // becomes
    func.func @main(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 attributes {tcp.target = "cuda"} { return %c0_i32 : i32 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def ConvertCudnnExecuteToBackendPass : Pass<"convert-cudnn-execute-to-backend", "::mlir::ModuleOp"> {
  let summary = "turn calls of graphs into calls of the runtime";
  let description = [{
    In functions with `tcp.target = "cuda"` that have the runtime as their first argument,
    `cudnn.execute` becomes `cudnn_backend.execute_graph` with the number of the call. Adds `calls`
    to the manifest: the graph of each call, by its place among the module's graphs, and where the
    call comes from.
  }];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect"];
}

def ConvertCudnnGraphsToBackendPass : Pass<"convert-cudnn-graphs-to-backend", "::mlir::ModuleOp"> {
  let summary = "turn cudnn.graph into the function that builds it";
  let description = [{
    Each `cudnn.graph @NAME` becomes `cudnn_backend.func @NAME_build`, in place. A graph's tensors
    are numbered: arguments from 1 on, then results, then the virtual ones in program order. Tensors
    of rank 1 and 2 get leading dims of 1, since cuDNN wants three. Operators with equal attributes
    are one descriptor. Everything but the graph itself is destroyed once the graph is finalized,
    because cuDNN copies what it is given. Adds `graphs` to the manifest.
  }];
  let options = [Option<"minimumVersion", "minimum-version", "int64_t", "::convoy::cudnn_backend::kMinimumCudnn", "oldest cuDNN that the program may run on, as CUDNN_VERSION">];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect"];
}

def MapKernelsPass : Pass<"gpu-map-kernels", "::mlir::ModuleOp"> {
  let summary = "linalg on memrefs to kernels and their launches (functions for cuda)";
  let description = [{
    Each linalg op of a function with `tcp.target = "cuda"`, and each region of
    `plan-group-epilogues`, becomes a kernel in `gpu.module @kernels`, with pointers as its only
    arguments and every size and offset in its code. Threads walk the output in memory order; a thread takes up to 16 bytes of it, or all of an
    innermost dim of up to 8 elements, and runs the op's reduction. A warp shares a reduction along
    a row of memory, and the threads of a block share those down columns that have too few outputs
    to fill a GPU; each has up to 8 reads under way. A `linalg.fill` that the op overwrites, reduces
    into or completes (padding) becomes a part of the op's kernel. Equal kernels are shared.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "GPU architecture that the PTX is written for">];
  let dependentDialects = ["::convoy::cudnn_backend::CudnnBackendDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::DLTIDialect"];
}

def CollectStepsPass : Pass<"collect-steps", "::mlir::ModuleOp"> {
  let summary = "write down in the manifest what @main asks of the runtime, in its order (cuda)";
  let description = [{
    The key `steps` of `tcp.manifest` gets a dictionary for each op of `@main` that calls the
    runtime: `{call = N}` for `cudnn_backend.execute_graph`, `{kernel = N}` for
    `cudnn_backend.launch_kernel`, `{copy = BYTES}` for `cudnn_backend.copy`. A reader of the
    artifact knows the program from it, and does not need to run it.
  }];
}

def CpuContractionsPass : Pass<"cpu-contractions", "::mlir::func::FuncOp"> {
  let summary = "convolutions and matrix products in f32 to tiles held in vector registers (functions for cpu)";
  let description = [{
    Takes `linalg.conv_2d_nhwc_hwcf`, the packed form of `plan-pack-cpu-weights`, `linalg.matmul`
    and `linalg.batch_matmul`, alone or in the regions of `plan-group-epilogues`. A tile of pixels
    times vectors of output channels is kept in registers over the whole reduction; tiles are steps
    of one `scf.parallel`.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 elements of a vector register">,
                 Option<"registers", "registers", "int64_t", "32", "vector registers">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuLoopsPass : Pass<"cpu-loops", "::mlir::func::FuncOp"> {
  let summary = "linalg on memrefs to loops (functions for cpu)";
  let description = [{
    Every op that a faster lowering has not taken. The outermost loops over parallel dims become one
    `scf.parallel` when there is enough work.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect"];
}

def CpuParallelPass : Pass<"cpu-parallel", "::mlir::ModuleOp"> {
  let summary = "bodies of parallel loops to functions of a range (functions for cpu)";
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
  let summary = "loops that are left to functions, equal ones to one (functions for cpu)";
  let description = [{
    So that LLVM's time for a program is linear in its layers. Calls of the functions are not
    inlined again.

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
  let summary = "kernels to nvvm, math as instructions only";
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def VerifyKernelsPass : Pass<"llvm-verify-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "check that kernels call nothing outside their module";
}

def KernelsToPtxPass : Pass<"kernels-to-ptx", "::mlir::ModuleOp"> {
  let summary = "every gpu.module to PTX, linked with the library of kernels";
  let description = [{
    Each `gpu.module`, which has one target, becomes a `gpu.binary` with one object, the text of its
    PTX. Functions of `runtime/device` that it calls are linked in and compiled with it. Modules are
    compiled side by side on the context's threads; their number does not change the result.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def LowerToLLVMPass : Pass<"lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "everything that is left to the llvm dialect, memrefs as bare pointers";
  let description = [{
    Functions become internal, except the builders of cuDNN graphs (`*_build`) and declarations. A
    pointer does not say how much memory it points to, so each memref argument of `@main` and
    `@prepare_weights` gets `tcp.bytes`, for llvm-entry-points.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ParallelCallsPass : Pass<"llvm-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "calls marked convoy.parallel through convoy_parallel_for";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EntryPointsPass : Pass<"llvm-entry-points", "::mlir::ModuleOp"> {
  let summary = "add convoy_main, convoy_prepare_weights, convoy_abi_version and convoy_sizes";
  let description = [{
    The symbols of `runtime/abi/convoy_abi.h`. The functions unpack the pointer arrays by the
    attributes of the arguments of `@main` and `@prepare_weights` (`tcp.input`, `tcp.weight`,
    `tcp.prepared`, `tcp.output`, `tcp.arena`); `tcp.bytes` of each argument, which lower-to-llvm
    adds, is its size in `convoy_sizes`. The attributes are taken off.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertCudnnBackendToLLVMPass : Pass<"convert-cudnn-backend-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower cudnn_backend, with the functions around it, to llvm";
  let description = [{
    A `cudnn_backend.func` becomes data (`runtime/support/convoy_calls.h`) and a function that has
    `convoy_make_calls` make the calls through `ConvoyCudnn`; calls of the runtime go through
    `ConvoyRuntime`, both of `runtime/abi/convoy_abi.h`. Takes modules that hold `cudnn_backend`,
    `func`, `memref` and `arith`, with memrefs as bare pointers; whole programs are lowered by the
    pass that also knows loops and vectors, with the same patterns.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // CONVOY_PASSES
