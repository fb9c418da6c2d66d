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

/// value * F(value), where F is the normal distribution. F(-a) * exp(a^2 / 2) is a polynomial of
/// t = 1 / (1 + 0.36 a) with a relative error of 9e-6 from 0 to 6, fitted to that error. erff would
/// take three times the instructions. Not for f32 results.
DEVICE float gelu(float value) {
  const float t = reciprocal(1 + 0.36f * __builtin_fabsf(value));
  const float polynomial =
      t *
      (0.14181015f + t * (0.16306724f + t * (0.04403056f + t * (0.24766791f - t * 0.09658014f))));
  const float tail = polynomial * exp2(value * value * -0.72134752f);
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
