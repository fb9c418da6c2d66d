// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Conversions on bit patterns: a C conversion would call these functions recursively. */

#include "convoy_floats.h"
#include <stdint.h>
#include <string.h>

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* Rounds to odd, so that a second rounding to fewer digits gives the same result as a single
 * rounding. */
static float odd_float(double number) {
  float near = (float)number;
  uint32_t bits = bits_of(near);
  if (number != number || (double)near == number)
    return near;
  if ((near < 0 ? -(double)near : (double)near) > (number < 0 ? -number : number))
    bits -= 1;
  return float_of(bits | 1);
}

_Float16 __truncsfhf2(float number) {
  uint32_t bits = bits_of(number), magnitude = bits & 0x7fffffffu, result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | (magnitude >> 13 & 0x1ffu);
  } else if (magnitude >= 0x477ff000u) { /* 65520: rounds to infinity */
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) { /* 2^-14, the smallest normal number */
    result = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  } else if (magnitude > 0x33000000u) { /* 2^-25, half the smallest subnormal number */
    uint32_t digits = (magnitude & 0x7fffffu) | 0x800000u, shift = 126u - (magnitude >> 23);
    uint32_t rest = digits & ((1u << shift) - 1u), half = 1u << (shift - 1u);
    result = digits >> shift;
    result += rest > half || (rest == half && (result & 1u));
  } else {
    result = 0;
  }
  uint16_t narrow = (uint16_t)(result | (bits >> 16 & 0x8000u));
  _Float16 value;
  memcpy(&value, &narrow, sizeof value);
  return value;
}

_Float16 __truncdfhf2(double number) { return __truncsfhf2(odd_float(number)); }

__bf16 __truncsfbf2(float number) {
  uint32_t bits = bits_of(number);
  if (number != number)
    bits |= 0x400000u;
  else
    bits += 0x7fffu + (bits >> 16 & 1u);
  uint16_t narrow = (uint16_t)(bits >> 16);
  __bf16 value;
  memcpy(&value, &narrow, sizeof value);
  return value;
}

__bf16 __truncdfbf2(double number) { return __truncsfbf2(odd_float(number)); }

float __extendhfsf2(_Float16 number) {
  uint16_t narrow;
  memcpy(&narrow, &number, sizeof narrow);
  uint32_t sign = (narrow & 0x8000u) << 16, exponent = narrow >> 10 & 0x1fu,
           digits = narrow & 0x3ffu;
  if (exponent == 0) /* zero and subnormals: multiples of 2^-24 */
    return float_of(sign | bits_of((float)digits * 0x1p-24f));
  if (exponent == 31)
    return float_of(sign | 0x7f800000u | digits << 13 | (digits ? 0x400000u : 0u));
  return float_of(sign | (exponent + 112u) << 23 | digits << 13);
}
