// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Interfaces of the tcp ops.

#ifndef CONVOY_TCP_INTERFACES
#define CONVOY_TCP_INTERFACES

include "mlir/IR/OpBase.td"

def Tcp_ConvOpInterface : OpInterface<"ConvOpInterface"> {
  let cppNamespace = "::convoy::tcp";
  let description = [{A convolution over 1, 2 or 3 spatial dims (aten.convolution, not transposed).}];
  let methods = [
    InterfaceMethod<"Activations, N x C x spatial, or N x spatial x C when channels_last.", "::mlir::Value", "getInput">,
    InterfaceMethod<"Filter, K x C/groups x window, or K x window x C/groups when channels_last.", "::mlir::Value", "getWeights">,
    InterfaceMethod<"Result, N x K x spatial, or N x spatial x K when channels_last.", "::mlir::Value", "getOutput">,
    InterfaceMethod<"Step of the window, one per spatial dim.", "::llvm::ArrayRef<int64_t>", "getStride">,
    InterfaceMethod<"Zeros around the input: low, high for each spatial dim.", "::llvm::ArrayRef<int64_t>", "getPad">,
    InterfaceMethod<"Distance between window elements, one per spatial dim.", "::llvm::ArrayRef<int64_t>", "getDilation">,
    InterfaceMethod<"Number of independent channel groups.", "uint64_t", "getGroups">,
    InterfaceMethod<"Whether channels are the last dim.", "bool", "getChannelsLast">,
    InterfaceMethod<"Number of spatial dims.", "int64_t", "getSpatialRank", (ins), "", [{
      return static_cast<int64_t>($_op.getStride().size());
    }]>,
  ];
}

def Tcp_ShapeOpInterface : OpInterface<"ShapeOpInterface"> {
  let cppNamespace = "::convoy::tcp";
  let description = [{
    An op with one result, whose shape follows from those of the operands, as far as they determine
    it. The verifier compares it with the type of the result.
  }];
  let methods = [
    InterfaceMethod<[{
      The shape of the result for operands of the given shapes, which refine those of their types.
      A dim that the operands do not determine is unknown. Emits an error if the shapes contradict
      the op's constraints for all values of the symbols. The default is the broadcast of the
      operands.
    }], "::llvm::FailureOr<::convoy::tcp::Dims>", "inferShape",
    (ins "::llvm::ArrayRef<::convoy::tcp::Dims>":$operands, "const ::convoy::tcp::Symbols &":$symbols), "",
    [{ return ::convoy::tcp::detail::inferBroadcast($_op, operands, symbols); }]>,
  ];
  // After the op's verifier, which checks the attributes that shapes are inferred with.
  let verifyWithRegions = 1;
  let verify = [{ return ::convoy::tcp::detail::verifyShape($_op); }];
}

#endif // CONVOY_TCP_INTERFACES
