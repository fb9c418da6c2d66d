// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the emitters of contractions share: index arithmetic, accesses to vectors of channels, and
// the epilogue.

#ifndef CONVOY_PASSES_CPU_CODEGEN_PIXELEMITTER_H
#define CONVOY_PASSES_CPU_CODEGEN_PIXELEMITTER_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/cpu_codegen/Contraction.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

class PixelEmitter {
public:
  PixelEmitter(mlir::OpBuilder &builder, Contraction contraction, VectorUnit unit);

protected:
  using Value = mlir::Value;

  struct Flat {
    Value buffer; ///< rank 1, unit stride, bytes instead of i1; null for the product's result
    PixelBuffer strides;
    bool isBool = false; ///< whether the elements are i1
  };
  /// Position of a tile: its first pixel and channel, and the start of its filter.
  struct Place {
    Value image, row, column, channel, filter, group;
  };
  /// Indices of the first element at a place in the output and the operands of the epilogue.
  struct Bases {
    Value output;
    llvm::SmallVector<Value> operands;
  };
  /// Distance from a place.
  struct Offset {
    int64_t row, column, channel;
  };

  Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, value); }
  Value add(Value a, Value other) {
    return mlir::arith::AddIOp::create(b, a, other, mlir::arith::IntegerOverflowFlags::nsw);
  }
  Value add(Value a, int64_t other) { return other == 0 ? a : add(a, index(other)); }
  Value scale(Value a, int64_t factor) {
    return factor == 1 ? a
                       : mlir::arith::MulIOp::create(b, a, index(factor),
                                                     mlir::arith::IntegerOverflowFlags::nsw)
                             .getResult();
  }
  Value splat(Value scalar) { return mlir::vector::BroadcastOp::create(b, vectorType, scalar); }

  /// Sets `input`, `output`, `filter` and `operands`.
  void flattenBuffers();
  /// Casts a buffer to one dim, so that every address is a single index.
  Flat flatten(Value buffer, const PixelBuffer &strides = {});
  Value base(const PixelBuffer &strides, const Place &place);
  Bases basesAt(const Place &place);

  /// Loads `lanes` elements; the others are zero.
  Value load(const Flat &from, Value at, int64_t lanes);
  /// Loads one element and broadcasts it to all lanes.
  Value loadSplat(const Flat &from, Value at);
  void store(Value vector, const Flat &to, Value at, int64_t lanes);
  Value mask(int64_t lanes);
  /// Applies the epilogue to a vector of sums of one pixel and stores the result.
  void storeResult(Value sum, const Bases &bases, const Offset &offset, int64_t lanes);

  mlir::ImplicitLocOpBuilder b;
  Contraction c;
  VectorUnit unit;
  mlir::VectorType vectorType;
  Flat input, output, filter;
  llvm::SmallVector<Flat> operands;
};

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_PIXELEMITTER_H
