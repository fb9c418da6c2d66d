// The kernels of runtime/device/copies.cu for artifacts of the tests, which need no build: byte by
// byte, and thread by thread.
#include "convoy_abi.h"

#define BODY                                                                                       \
  ".reg .pred %done;\n"                                                                            \
  ".reg .b16 %byte;\n"                                                                             \
  ".reg .b32 %place, %count;\n"                                                                    \
  ".reg .b64 %copy, %to, %from, %rows, %width, %pitch, %apart, %i, %step, %row, %column, %at;\n"   \
  "mov.u32 %place, %ctaid.y;\n"                                                                    \
  "mul.wide.u32 %i, %place, 48;\n"                                                                 \
  "mov.b64 %copy, copies;\n"                                                                       \
  "add.s64 %copy, %copy, %i;\n"                                                                    \
  "ld.param.b64 %to, [%copy];\n"                                                                   \
  "ld.param.b64 %from, [%copy+8];\n"                                                               \
  "ld.param.b64 %rows, [%copy+16];\n"                                                              \
  "ld.param.b64 %width, [%copy+24];\n"                                                             \
  "ld.param.b64 %pitch, [%copy+32];\n"                                                             \
  "ld.param.b64 %apart, [%copy+40];\n"                                                             \
  "mul.lo.s64 %rows, %rows, %pitch;\n"                                                             \
  "mov.u32 %place, %ctaid.x;\n"                                                                    \
  "mov.u32 %count, %ntid.x;\n"                                                                     \
  "mul.wide.u32 %i, %place, %count;\n"                                                             \
  "mov.u32 %place, %nctaid.x;\n"                                                                   \
  "mul.wide.u32 %step, %place, %count;\n"                                                          \
  "mov.u32 %place, %tid.x;\n"                                                                      \
  "cvt.u64.u32 %at, %place;\n"                                                                     \
  "add.s64 %i, %i, %at;\n"                                                                         \
  "next:\n"                                                                                        \
  "setp.ge.s64 %done, %i, %rows;\n"                                                                \
  "@%done bra end;\n"                                                                              \
  "div.s64 %row, %i, %pitch;\n"                                                                    \
  "mul.lo.s64 %at, %row, %pitch;\n"                                                                \
  "sub.s64 %column, %i, %at;\n"                                                                    \
  "mov.u16 %byte, 0;\n"                                                                            \
  "setp.ge.s64 %done, %column, %width;\n"                                                          \
  "@%done bra store;\n"                                                                            \
  "mad.lo.s64 %at, %row, %apart, %column;\n"                                                       \
  "add.s64 %at, %at, %from;\n"                                                                     \
  "ld.global.u8 %byte, [%at];\n"                                                                   \
  "store:\n"                                                                                       \
  "add.s64 %at, %to, %i;\n"                                                                        \
  "st.global.u8 [%at], %byte;\n"                                                                   \
  "add.s64 %i, %i, %step;\n"                                                                       \
  "bra next;\n"                                                                                    \
  "end:\n"                                                                                         \
  "ret;\n"
#define KERNEL(most, bytes)                                                                        \
  ".visible .entry convoy_copy_" #most "(\n.param .align 8 .b8 copies[" #bytes "]\n)\n{\n" BODY    \
  "}\n"

const char *convoy_copy_kernels(void) {
  return "// Copies of inputs.\n.version 7.0\n.target sm_70\n.address_size 64\n" KERNEL(8, 384)
      KERNEL(80, 3840);
}
