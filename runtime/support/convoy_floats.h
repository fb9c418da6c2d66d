/* Conversions of half and bfloat16 that LLVM calls where the CPU has no instruction for them. The
   names are those of the compiler's runtime library (compiler-rt, libgcc), which a native library
   is not linked with. */

#ifndef CONVOY_FLOATS_H
#define CONVOY_FLOATS_H

/** To the nearest number, ties to even, in one rounding. NaN stays a quiet NaN. */
_Float16 __truncsfhf2(float number);
_Float16 __truncdfhf2(double number);
__bf16 __truncsfbf2(float number);
__bf16 __truncdfbf2(double number);

/** Exact. */
float __extendhfsf2(_Float16 number);

#endif
