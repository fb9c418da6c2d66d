// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cudnn_backend dialect, its types and attributes.

#ifndef CONVOY_CUDNN_BACKEND_DIALECT
#define CONVOY_CUDNN_BACKEND_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def CudnnBackend_Dialect : Dialect {
  let name = "cudnn_backend";
  let cppNamespace = "::convoy::cudnn_backend";
  let summary = "the calls of cuDNN's backend API, one op each, and the calls of the runtime";
  let description = [{
    The layer between operation graphs and machine code. A `cudnn_backend.func` builds one operation
    graph with cuDNN's backend API: each `create`, `set`, `finalize` and `destroy` is one call of
    `cudnnBackendCreateDescriptor`, `cudnnBackendSetAttribute`, `cudnnBackendFinalize` or
    `cudnnBackendDestroyDescriptor`. `Descriptors.def` lists the descriptors and attributes. The
    verifiers check the whole protocol against it, so that a valid builder leaks no descriptor and
    sets every required attribute. `get`, `get_descriptors` and `execute_plan` are
    `cudnnBackendGetAttribute` and `cudnnBackendExecute`, for functions that choose engines and run
    plans.

    `execute_graph`, `launch_kernel` and `copy` are calls of the runtime, in program order.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

class CudnnBackend_Type<string name, string typeMnemonic> : TypeDef<CudnnBackend_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def CudnnBackend_DescriptorType : CudnnBackend_Type<"Descriptor", "descriptor"> {
  let summary = "a cudnnBackendDescriptor_t of a known kind";
  let description = [{
    `!cudnn_backend.descriptor<tensor>` is the result of
    `cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, ...)`.
  }];
  let parameters = (ins "DescriptorKind":$kind);
  let assemblyFormat = "`<` $kind `>`";
}

/// A descriptor of a given kind.
class CudnnBackend_DescriptorOf<string kind, string make = "::convoy::cudnn_backend::DescriptorType::get(">
    : Type<CPred<"$_self == " # make # "$_self.getContext(), ::convoy::cudnn_backend::DescriptorKind::" # kind # ")">,
           "descriptor of kind '" # kind # "'", "::convoy::cudnn_backend::DescriptorType">,
      BuildableType<make # "$_builder.getContext(), ::convoy::cudnn_backend::DescriptorKind::" # kind # ")">;

def CudnnBackend_HandleType : CudnnBackend_Type<"Handle", "handle">,
    BuildableType<"::convoy::cudnn_backend::HandleType::get($_builder.getContext())"> {
  let summary = "a cudnnHandle_t, which may be null";
}

def CudnnBackend_AttributeNameAttr : AttrDef<CudnnBackend_Dialect, "AttributeName"> {
  let summary = "a cudnnBackendAttributeName_t";
  let mnemonic = "attribute";
  let parameters = (ins "AttributeName":$value);
  let assemblyFormat = "`<` $value `>`";
}

def CudnnBackend_FractionsAttr : AttrDef<CudnnBackend_Dialect, "Fractions"> {
  let summary = "a list of cudnnFraction_t";
  let description = "Alternating numerators and denominators; a `set` prints it as `[1 : 2, 3 : 1]`.";
  let mnemonic = "fractions";
  let parameters = (ins ArrayRefParameter<"int64_t">:$numbers);
  let assemblyFormat = "`<` $numbers `>`";
}

def CudnnBackend_Pointer : Type<
    CPred<"$_self == ::mlir::LLVM::LLVMPointerType::get($_self.getContext())">, "pointer", "::mlir::LLVM::LLVMPointerType">;

/// `!llvm.ptr` to the table of the runtime's functions.
def CudnnBackend_Runtime : Type<
    CPred<"$_self == ::mlir::LLVM::LLVMPointerType::get($_self.getContext())">,
    "pointer to the runtime's table", "::mlir::LLVM::LLVMPointerType">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

class CudnnBackend_Op<string mnemonic, list<Trait> traits = []> : Op<CudnnBackend_Dialect, mnemonic, traits>;

#endif // CONVOY_CUDNN_BACKEND_DIALECT
