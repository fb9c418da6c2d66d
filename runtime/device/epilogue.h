// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What follows a product: activations, and the epilogue of EpilogueArguments.

#ifndef CONVOY_DEVICE_EPILOGUE_H
#define CONVOY_DEVICE_EPILOGUE_H

#include "device.h"

DEVICE float sigmoid(float value) { return reciprocal(1 + exp2(value * -1.44269504f)); }

/// value * sigmoid(value).
DEVICE float swish(float value) { return value * sigmoid(value); }

/// value * sigmoid(2u) with u = sqrt(2 / pi) * (value + 0.044715 value^3), which is
/// value * (1 + tanh(u)) / 2.
DEVICE float geluTanh(float value) {
  const float inner = value * (1 + 0.044715f * value * value);
  return value * reciprocal(1 + exp2(inner * -2.30220819f));
}

/// value * F(value), where F is the normal distribution. log2(F(-a)) is a polynomial of a, fitted
/// so that F(-a) has a relative error of 3e-5 from 0 to 6, where results of f16 are 0, and of 5e-2
/// to 13, where those of bf16 are. Its leading factor is negative, so F(-a) is 0 at infinity. erff
/// would take three times the instructions, and a form with a reciprocal two more and twice the
/// time of the special function unit. Not for f32 results.
DEVICE float gelu(float value) {
  const float a = __builtin_fabsf(value);
  constexpr float kFactors[] = {4.45212743e-05f, -0.000778743571f, 0.00783849105f, -0.052441045f,
                                -0.460115871f,   -1.15056684f,     -1.00004419f};
  float power = -1.08008477e-06f;
#pragma unroll
  for (const float factor : kFactors)
    power = power * a + factor;
  const float tail = exp2(power);
  return value * (value < 0 ? tail : 1 - tail);
}

/// With a relative error of 2^-11. Not for f32 results.
DEVICE float tanh(float value) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

DEVICE float activate(float value, const EpilogueArguments &epilogue) {
  switch (epilogue.activation) {
  case kSwish:
    return swish(value);
  case kGelu:
    return gelu(value);
  case kGeluTanh:
    return geluTanh(value);
  case kSigmoid:
    return sigmoid(value);
  case kTanh:
    return tanh(value);
  case kLeakyRelu:
    return value < 0 ? value * epilogue.slope : value;
  case kHardSwish:
    return value * clamp(value + 3, 0, 6) * (1.0f / 6);
  default:
    return value;
  }
}

/// The epilogue of one number. `scale` is 1 and `residual` is 0 where there is none.
DEVICE float finish(float value, float bias, float scale, float residual,
                    const EpilogueArguments &epilogue) {
  value += bias;
  if (epilogue.early)
    value = activate(value, epilogue);
  value = epilogue.gates ? value * scale * residual : value * scale + residual;
  if (!epilogue.early)
    value = activate(value, epilogue);
  return clamp(value, epilogue.lower, epilogue.upper);
}

#endif // CONVOY_DEVICE_EPILOGUE_H
