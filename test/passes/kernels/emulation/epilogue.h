// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Takes the place of runtime/device/epilogue.h, without activations.

#ifndef CONVOY_EMULATION_EPILOGUE_H
#define CONVOY_EMULATION_EPILOGUE_H

#include "device.h"

DEVICE float finish(float value, float bias, float scale, float residual,
                    const EpilogueArguments &epilogue) {
  value = (value + bias) * scale + residual;
  return value < epilogue.lower ? epilogue.lower : value > epilogue.upper ? epilogue.upper : value;
}

#endif // CONVOY_EMULATION_EPILOGUE_H
