// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The types of the cudnn dialect.

#ifndef CONVOY_CUDNN_TYPES
#define CONVOY_CUDNN_TYPES

include "dialect/cudnn/CudnnDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Cudnn_Type<string name, string typeMnemonic> : TypeDef<Cudnn_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Cudnn_HandleType : Cudnn_Type<"Handle", "handle">, BuildableType<"::convoy::cudnn::HandleType::get($_builder.getContext())"> {
  let summary = "a cudnnHandle_t";
  let description = "The library handle of the calling thread: `!cudnn.handle`.";
}

def Cudnn_FastFloatForFp8Type : Cudnn_Type<"FastFloatForFp8", "fast_float_for_fp8"> {
  let summary = "a compute type: float sums of fp8 products, rounded on the way";
  let description = "`CUDNN_DATA_FAST_FLOAT_FOR_FP8`, as a compute type of convolutions and matrix products: `!cudnn.fast_float_for_fp8`.";
}

def Cudnn_TensorDescType : Cudnn_Type<"TensorDesc", "tensor_desc"> {
  let summary = "shape, element type and memory layout of a tensor";
  let description = [{
    The dims are logical: N, C, then spatial. The strides, in elements, give the order in memory.
    The type always stores all strides. The assembly format is `NHWC` (`NWC`, `NDHWC`) for packed
    channels-last strides, `NCHW` (`NCW`, `NCDHW`) or nothing for strides packed in the order of the
    dims, and `stride = [..]` otherwise; `stride = []` also means packed in the order of the dims.
    `alignment` is the alignment of the address in bytes, 16 by default; it is at least the size of
    an element.

    Elements may be vectors, such as INT8x4 and INT8x32: `vector_count` numbers along
    `vectorized_dimension` are contiguous. The size of that dim is then the number of vectors, and
    strides count vectors. `reordering` is an order of the elements in memory that cuDNN defines.

    The other properties of a cuDNN tensor descriptor are not part of the type. A tensor is virtual
    unless it is an argument or a result of the graph; these may have the attributes `cudnn.uid`,
    `cudnn.by_value` and `cudnn.ragged_offset` of `cudnn.graph`.

    **Constraints**

    * (c1) there are 1 to 8 dims (`CUDNN_DIM_MAX`), all positive.
    * (c2) the element type is one of cuDNN's: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E8M0FNU,
      f4E2M1FN, i64, i32, ui32, i8, ui8, i4, ui4, i1, complex<f32>, complex<f64>.
    * (c3) there is one positive stride per dim.
    * (c4) the alignment is a power of two.
    * (c5) `vector_count` and `vectorized_dimension` require each other. The first is above 1: 4 or
      32 for i8, 4 for ui8. The second is the number of a dim.
    * (c6) a reordering matches the element type: `int8x32` i8, `f16x16` f16 and bf16, `f8_128x4`
      f8E8M0FNU and f8E4M3FN.

    ```mlir
    !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>
    !cudnn.tensor_desc<4x24x31x31xf16, stride = [46128, 1, 1488, 48]>
    !cudnn.tensor_desc<64x2x3x3xi8, NCHW, vector_count = 32, vectorized_dimension = 1, reordering = int8x32>
    ```

    Maps to `CUDNN_BACKEND_TENSOR_DESCRIPTOR`: `CUDNN_ATTR_TENSOR_DIMENSIONS`, `_STRIDES`,
    `_DATA_TYPE`, `_BYTE_ALIGNMENT`, `_VECTOR_COUNT`, `_VECTORIZED_DIMENSION`, `_REORDERING_MODE`,
    and by use `_UNIQUE_ID`, `_IS_VIRTUAL`, `_IS_BY_VALUE`, `_RAGGED_OFFSET_DESC`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$alignment, "int64_t":$vectorCount, "int64_t":$vectorizedDimension,
                        "::convoy::cudnn::TensorReordering":$reordering);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "bool":$channelsLast,
                                        CArg<"int64_t", "16">:$alignment)>,
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                        "::llvm::ArrayRef<int64_t>":$strides, "int64_t":$alignment)>,
  ];
  let extraClassDeclaration = [{
    static constexpr int64_t kDefaultAlignment = 16;
    int64_t getRank() const { return getShape().size(); }
    /// Whether an element is a vector of more than one number.
    bool isVectorized() const { return getVectorCount() != 1; }
    /// The shape in numbers: the vectorized dim counts each number of a vector.
    ::llvm::SmallVector<int64_t> getLogicalShape() const;
    /// Packed with channels (dim 1) fastest. Some tensors are both channels-last and row-major.
    bool isChannelsLast() const;
    /// Packed in the order of the dims.
    bool isRowMajor() const;
    /// Whether the elements fill an interval of memory without gaps, in any order.
    bool isPacked() const;
    /// The dims by descending stride, followed by `vector_count` if vectorized. Requires
    /// `isPacked()`.
    ::llvm::SmallVector<int64_t> getPhysicalShape() const;
    /// Whether a packed row-major buffer of `shape` has the same memory layout; dims of size 1 are
    /// ignored.
    bool isSameMemoryAs(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

#endif // CONVOY_CUDNN_TYPES
