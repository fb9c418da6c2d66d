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

def Cudnn_TensorDescType : Cudnn_Type<"TensorDesc", "tensor_desc"> {
  let summary = "shape, element type, strides and alignment of a tensor";
  let description = [{
    The dims are logical: N, C, then spatial. The strides, in elements, give the order in memory. They are always held in full; as text they
    are `NHWC` (`NWC`, `NDHWC`) when channels vary fastest and nothing is padded, `NCHW` (`NCW`, `NCDHW`) or nothing when packed in the
    order of the dims, and `stride = [..]` otherwise; `stride = []` means packed in the order of the dims.
    `alignment` is that of the address in bytes, 16 when not written.

    **Constraints**

    * (c1) there are 1 to 8 dims (`CUDNN_DIM_MAX`), all positive.
    * (c2) the element type is one of cuDNN's: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i8, ui8, i1.
    * (c3) there is one positive stride a dim.
    * (c4) the alignment is a power of two.

    ```mlir
    !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
    !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>
    !cudnn.tensor_desc<4x24x31x31xf16, stride = [46128, 1, 1488, 48]>
    ```

    Maps to `CUDNN_BACKEND_TENSOR_DESCRIPTOR`: `CUDNN_ATTR_TENSOR_DIMENSIONS`, `_STRIDES`, `_DATA_TYPE`, `_BYTE_ALIGNMENT`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$alignment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "bool":$channelsLast,
                                        CArg<"int64_t", "16">:$alignment)>,
  ];
  let extraClassDeclaration = [{
    static constexpr int64_t kDefaultAlignment = 16;
    int64_t getRank() const { return getShape().size(); }
    /// Packed with channels (dim 1) fastest. True as well for some tensors that are also packed in the order of their dims.
    bool isChannelsLast() const;
    /// Packed in the order of the dims.
    bool isRowMajor() const;
    /// Whether the elements fill one interval without gap, in any order.
    bool isPacked() const;
    /// The dims in the order of memory: those that vary slowest first. `isPacked()` holds.
    ::llvm::SmallVector<int64_t> getPhysicalShape() const;
    /// Whether a packed row-major buffer of `shape` holds this descriptor's elements in the same order; dims of size 1 do not count.
    bool isSameMemoryAs(::llvm::ArrayRef<int64_t> shape) const;
    /// The same tensor with another element type.
    TensorDescType withElementType(::mlir::Type elementType) const;
  }];
}

#endif // CONVOY_CUDNN_TYPES
