// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the kernels for attention have in common. Their arguments are constants when they are
// compiled, so code for a softcap or a window is only in kernels that have one.

#ifndef CONVOY_RUNTIME_DEVICE_ATTENTION_H
#define CONVOY_RUNTIME_DEVICE_ATTENTION_H

#include "device.h"

namespace {

constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f, kHidden = -__builtin_inff();

/// softcap * tanh(s / softcap) in units of ln 2, where s is the scaled `product`, as
/// softcap * (1 - 2 / (exp(2 * s / softcap) + 1)). Where the exponential overflows it is softcap.
///
/// Absolute errors of the factor of softcap: 2^-23 for exp2, whose relative error of 2^-22 is
/// multiplied by at most 1/2; 2^-24 for rounding its argument x, because x * 2^-24 is multiplied by
/// 2 * e / (e + 1)^2 with e = 2^x; 2^-22 for reciprocal, and 2^-23 for rounding its argument. So a
/// score is within softcap * 2^-21, 2.4e-5 for a softcap of 50, and a probability within 2.4e-5 of
/// itself, which is less than its rounding to f16 or bf16. tanh.approx, with a relative error of
/// 2^-11, would change scores of the size of softcap by 0.02.
DEVICE float capped(float product, float scale, float softcap) {
  const float inner = scale / softcap * 2 * kLog2e, outer = softcap * kLog2e;
  return outer - 2 * outer * reciprocal(exp2(product * inner) + 1);
}

/// Whether `column` is before the window of `row`. A window of 0 is none.
DEVICE bool isBefore(int window, int column, int row) {
  return window > 0 && column <= row - window;
}
/// The first of `steps` steps of `columns` columns that `row`, the first one of a block, sees, or
/// the last step.
DEVICE int firstStepOf(int window, int row, int columns, int steps) {
  return window > 0 ? min(max(row - window + 1, 0) / columns, steps - 1) : 0;
}

} // namespace

#endif // CONVOY_RUNTIME_DEVICE_ATTENTION_H
