// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cudnn_backend dialect's ops: builders of operation graphs, then the calls of the runtime.

#ifndef CONVOY_CUDNN_BACKEND_OPS
#define CONVOY_CUDNN_BACKEND_OPS

include "dialect/cudnn_backend/CudnnBackendDialect.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"

def CudnnBackend_FuncOp : CudnnBackend_Op<"func", [IsolatedFromAbove, SingleBlock, Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a sequence of calls of the backend API, usually to build an operation graph";
  let description = [{
    Compiles to an exported function of `runtime/abi/convoy_abi.h`:
    `int32_t NAME(const ConvoyCudnn *cudnn, void *handle, void *argument..., void *result...)`.
    Further arguments are descriptors or pointers; a result is the address that receives a returned
    descriptor or number. A function that builds a graph, `ConvoyBuildGraph`, has no further
    arguments and returns the graph. The body is one block. When a call fails, the function destroys
    every live descriptor that it created, in reverse order, and returns the status.

    `minimum_version` is the oldest cuDNN that the function supports, in the format of
    CUDNN_VERSION; the default is `kMinimumCudnn` (DescriptorTable.h).

    Constraints:
    * (c1) a descriptor's attributes are set before it is finalized
    * (c2) no attribute is set twice
    * (c3) required attributes are set when a descriptor is finalized, and at least one of its
      `either` attributes
    * (c4) lists of dimensions have equal lengths; the length of spatial lists is `spatial_dims`
    * (c5) a descriptor that is passed to another one, read or executed is finalized and alive
    * (c6) a descriptor is finalized once
    * (c7) every descriptor that is created here and not returned is destroyed once
    * (c8) a returned descriptor is finalized and alive
    * (c9) descriptors, attributes and enumerators exist in `minimum_version`
    * (c10) descriptors that cuDNN fills are not finalized, and descriptors of reserved kinds are
      not created
    * (c11) a descriptor argument belongs to the caller: it is finalized, and is not set, filled,
      destroyed or returned here
    * (c12) the first argument is the handle; all others are descriptors or pointers

    ```mlir
    cudnn_backend.func @relu_0_build(%handle) {
      %x = cudnn_backend.create <tensor>
      cudnn_backend.set %x, <tensor_dimensions>, [1, 64, 56, 56] : <tensor>
      ...
      cudnn_backend.return %graph : <operationgraph>
    }
    cudnn_backend.func @run(%handle, %plan: !cudnn_backend.descriptor<execution_plan>, %x: !llvm.ptr, %workspace: !llvm.ptr) {
      %pack = cudnn_backend.create <variant_pack>
      ...
      cudnn_backend.execute_plan %handle, %plan, %pack
      cudnn_backend.destroy %pack : <variant_pack>
      cudnn_backend.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<I64Attr>:$minimum_version);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringRef":$name)>];
  let extraClassDeclaration = [{
    /// The cuDNN handle, null when there is no GPU.
    ::mlir::BlockArgument getHandle() { return getBody().getArgument(0); }
    /// Descriptors and pointers of the caller.
    ::mlir::Block::BlockArgListType getFurtherArguments() { return getBody().getArguments().drop_front(); }
    /// SHA-256, in hexadecimal, of all calls, with descriptors numbered in order of creation: the
    /// runtime's fingerprint of a graph. The function builds a graph: its only argument is the
    /// handle, and it only creates, sets, finalizes and destroys descriptors.
    std::string getFingerprint();
  }];
}

class CudnnBackend_BuilderOp<string mnemonic, list<Trait> traits = []>
    : CudnnBackend_Op<mnemonic, !listconcat([HasParent<"::convoy::cudnn_backend::FuncOp">], traits)>;

def CudnnBackend_CreateOp : CudnnBackend_BuilderOp<"create"> {
  let summary = "cudnnBackendCreateDescriptor";
  let description = [{
    ```mlir
    %x = cudnn_backend.create <tensor>
    ```
  }];
  let results = (outs CudnnBackend_DescriptorType:$descriptor);
  let assemblyFormat = "type($descriptor) attr-dict";
  let builders = [OpBuilder<(ins "DescriptorKind":$kind), [{
    build($_builder, $_state, DescriptorType::get($_builder.getContext(), kind));
  }]>];
}

def CudnnBackend_SetOp : CudnnBackend_BuilderOp<"set"> {
  let summary = "cudnnBackendSetAttribute";
  let description = [{
    The value is a list of integers or of fractions, one enumerator, number or boolean, a string,
    descriptors, pointers, or the handle. A handle that is null at run time is not set: cuDNN
    rejects a null handle, but does not require one.

    Constraints:
    * (c1) the attribute belongs to the descriptor's kind
    * (c2) the attribute accepts the type of the value
    * (c3) an enumerator belongs to the attribute's enum
    * (c4) the attribute accepts the number of elements
    * (c5) descriptors have the kind that the attribute holds
    * (c6) the attribute is neither read-only nor reserved
    * (c7) numbers of a 32-bit attribute fit into 32 bits

    ```mlir
    cudnn_backend.set %x, <tensor_dimensions>, [1, 64, 56, 56] : <tensor>
    cudnn_backend.set %x, <tensor_data_type>, half : <tensor>
    cudnn_backend.set %x, <tensor_is_virtual>, true : <tensor>
    cudnn_backend.set %op, <operation_convolution_forward_alpha>, 1.0 : f32 : <operation_convolution_forward>
    cudnn_backend.set %window, <resample_strides>, [3 : 2, 1 : 1] : <resample>
    cudnn_backend.set %pack, <variant_pack_workspace>, %workspace : <variant_pack>, !llvm.ptr
    cudnn_backend.set %device, <deviceprop_json_representation>, "{...}" : <deviceprop>
    cudnn_backend.set %graph, <operationgraph_ops>, (%op0, %op1) : <operationgraph>, !cudnn_backend.descriptor<operation_pointwise>, ...
    ```
  }];
  let arguments = (ins CudnnBackend_DescriptorType:$descriptor, CudnnBackend_AttributeNameAttr:$name,
                       OptionalAttr<AnyAttrOf<[DenseI64ArrayAttr, BoolAttr, AnyAttrOf<[F32Attr, F64Attr]>, StrAttr,
                                               CudnnBackend_FractionsAttr]>>:$value,
                       Variadic<AnyTypeOf<[CudnnBackend_DescriptorType, CudnnBackend_HandleType, CudnnBackend_Pointer]>>:$elements);
  let assemblyFormat = [{
    $descriptor `,` $name `,` custom<Value>($value, $elements) attr-dict `:` type($descriptor) (`,` qualified(type($elements))^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$descriptor, "AttributeName":$name, "::mlir::Attribute":$value), [{
      build($_builder, $_state, descriptor, AttributeNameAttr::get($_builder.getContext(), name), value, ::mlir::ValueRange());
    }]>,
    OpBuilder<(ins "::mlir::Value":$descriptor, "AttributeName":$name, "::mlir::ValueRange":$elements), [{
      build($_builder, $_state, descriptor, AttributeNameAttr::get($_builder.getContext(), name), ::mlir::Attribute(), elements);
    }]>];
  let extraClassDeclaration = [{
    /// The type of the value; nothing if the attribute does not accept it.
    std::optional<AttributeType> getValueType();
    int64_t getCount();
    /// The elements of the value as cuDNN reads them; a string is null-terminated.
    std::string getBytes();
  }];
  let hasVerifier = 1;
}

def CudnnBackend_FinalizeOp : CudnnBackend_BuilderOp<"finalize"> {
  let summary = "cudnnBackendFinalize";
  let arguments = (ins CudnnBackend_DescriptorType:$descriptor);
  let assemblyFormat = "$descriptor attr-dict `:` type($descriptor)";
}

def CudnnBackend_DestroyOp : CudnnBackend_BuilderOp<"destroy"> {
  let summary = "cudnnBackendDestroyDescriptor";
  let description = [{
    cuDNN copies the attributes of a descriptor, so tensors, operators and operations may be
    destroyed as soon as the graph that uses them is finalized.
  }];
  let arguments = (ins CudnnBackend_DescriptorType:$descriptor);
  let assemblyFormat = "$descriptor attr-dict `:` type($descriptor)";
}

def CudnnBackend_GetOp : CudnnBackend_BuilderOp<"get"> {
  let summary = "cudnnBackendGetAttribute of one number";
  let description = [{
    The result of an enum attribute is the enumerator's number.

    Constraints:
    * (c1) the attribute belongs to the descriptor's kind, and is not reserved
    * (c2) the attribute has one element, which is a number, boolean or enumerator
    * (c3) the result has the attribute's type

    ```mlir
    %bytes = cudnn_backend.get %plan, <execution_plan_workspace_size> : <execution_plan> -> i64
    ```
  }];
  let arguments = (ins CudnnBackend_DescriptorType:$descriptor, CudnnBackend_AttributeNameAttr:$name);
  let results = (outs AnyTypeOf<[I1, I32, I64, F32, F64]>:$value);
  let assemblyFormat = "$descriptor `,` $name attr-dict `:` type($descriptor) `->` type($value)";
  let hasVerifier = 1;
}

def CudnnBackend_GetDescriptorsOp : CudnnBackend_BuilderOp<"get_descriptors"> {
  let summary = "cudnnBackendGetAttribute of descriptors";
  let description = [{
    Fills descriptors that were created but not set or finalized; they count as finalized
    afterwards. The result is the number of descriptors that cuDNN returned. If it is smaller than
    the number of operands, the remaining descriptors are unchanged, and reading them fails.

    Constraints:
    * (c1) the attribute belongs to the descriptor's kind, and is not reserved
    * (c2) the attribute holds descriptors
    * (c3) there is at least one descriptor to fill, each of the kind that the attribute holds

    ```mlir
    %count = cudnn_backend.get_descriptors %engine, <engine_knob_info>, (%knob) : <engine>, !cudnn_backend.descriptor<knob_info>
    ```
  }];
  let arguments = (ins CudnnBackend_DescriptorType:$descriptor, CudnnBackend_AttributeNameAttr:$name,
                       Variadic<CudnnBackend_DescriptorType>:$elements);
  let results = (outs I64:$count);
  let assemblyFormat = [{
    $descriptor `,` $name `,` `(` $elements `)` attr-dict `:` type($descriptor) (`,` qualified(type($elements))^)?
  }];
  let hasVerifier = 1;
}

def CudnnBackend_ExecutePlanOp : CudnnBackend_BuilderOp<"execute_plan"> {
  let summary = "cudnnBackendExecute";
  let description = [{
    Runs a plan on the pointers of a variant pack, in the stream of the handle, which must not be
    null at run time.

    ```mlir
    cudnn_backend.execute_plan %handle, %plan, %pack
    ```
  }];
  let arguments = (ins CudnnBackend_HandleType:$handle, CudnnBackend_DescriptorOf<"execution_plan">:$plan,
                       CudnnBackend_DescriptorOf<"variant_pack">:$pack);
  let assemblyFormat = "$handle `,` $plan `,` $pack attr-dict";
}

def CudnnBackend_ReturnOp : CudnnBackend_BuilderOp<"return", [Terminator]> {
  let summary = "returns descriptors and numbers to the caller";
  let description = [{
    ```mlir
    cudnn_backend.return %graph : <operationgraph>
    cudnn_backend.return %plan, %bytes : <execution_plan>, i64
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[CudnnBackend_DescriptorType, I1, I32, I64, F32, F64]>>:$results);
  let assemblyFormat = "($results^ `:` custom<ResultTypes>(type($results)))? attr-dict";
}

//===-- the runtime ------------------------------------------------------------------------------------------------------===//

class CudnnBackend_RuntimeOp<string mnemonic> : CudnnBackend_Op<mnemonic> {
  let hasVerifier = 1;
}

defvar CudnnBackend_Buffers = Variadic<AnyTypeOf<[AnyRankedOrUnrankedMemRef, CudnnBackend_Runtime]>>;

def CudnnBackend_ExecuteGraphOp : CudnnBackend_RuntimeOp<"execute_graph"> {
  let summary = "ConvoyRuntime.execute_graph";
  let description = [{
    Runs the graph of the manifest's call number `call`. The buffers are its operands, followed by
    its results.

    Constraints:
    * (c1) the op is at the top level, or in a loop, of a function whose only result is the status, an `i32`
    * (c2) `call` is non-negative
    * (c3) buffers are memrefs of static shape, or pointers

    ```mlir
    cudnn_backend.execute_graph %runtime, call = 0 (%x, %w, %y) : memref<1x56x56x64xf16>, memref<64x3x3x64xf16>, memref<1x56x56x64xf16>
    ```
  }];
  let arguments = (ins CudnnBackend_Runtime:$runtime, I32Attr:$call, CudnnBackend_Buffers:$buffers);
  let assemblyFormat = "$runtime `,` `call` `=` $call `(` $buffers `)` attr-dict (`:` type($buffers)^)?";
}

def CudnnBackend_LaunchKernelOp : CudnnBackend_RuntimeOp<"launch_kernel"> {
  let summary = "ConvoyRuntime.launch_kernel";
  let description = [{
    Launches the manifest's kernel number `kernel`; every argument is a buffer.

    Constraints:
    * (c1) the op is at the top level, or in a loop, of a function whose only result is the status, an `i32`
    * (c2) `kernel` and `shared` are non-negative
    * (c3) buffers are memrefs of static shape, or pointers
    * (c4) `grid` and `block` have three positive sizes

    ```mlir
    cudnn_backend.launch_kernel %runtime, kernel = 0 grid [12, 1, 1] block [256, 1, 1] shared 0 (%x, %y) : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = (ins CudnnBackend_Runtime:$runtime, I32Attr:$kernel, DenseI32ArrayAttr:$grid, DenseI32ArrayAttr:$block, I32Attr:$shared,
                       CudnnBackend_Buffers:$buffers);
  let assemblyFormat = [{
    $runtime `,` `kernel` `=` $kernel `grid` $grid `block` $block `shared` $shared `(` $buffers `)` attr-dict (`:` type($buffers)^)?
  }];
}

def CudnnBackend_CopyOp : CudnnBackend_RuntimeOp<"copy"> {
  let summary = "ConvoyRuntime.copy";
  let description = [{
    Copies between two buffers on the device.

    Constraints:
    * (c1) the op is at the top level, or in a loop, of a function whose only result is the status, an `i32`
    * (c2) both are memrefs of static shape and identity layout, with the same number of elements
      and the same element type

    ```mlir
    cudnn_backend.copy %runtime, %destination, %source : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = (ins CudnnBackend_Runtime:$runtime, AnyMemRef:$destination, AnyMemRef:$source);
  let assemblyFormat = "$runtime `,` $destination `,` $source attr-dict `:` type($destination) `,` type($source)";
}

#endif // CONVOY_CUDNN_BACKEND_OPS
