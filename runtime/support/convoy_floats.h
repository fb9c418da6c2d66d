// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Conversions of half and bfloat16 that LLVM calls where the CPU has no instruction for them. The
   names are those of compiler-rt and libgcc, which native libraries are not linked with. */

#ifndef CONVOY_FLOATS_H
#define CONVOY_FLOATS_H

/** Rounds once to the nearest number, ties to even. NaN becomes a quiet NaN. */
_Float16 __truncsfhf2(float number);
_Float16 __truncdfhf2(double number);
__bf16 __truncsfbf2(float number);
__bf16 __truncdfbf2(double number);

/** Exact. */
float __extendhfsf2(_Float16 number);

#endif
