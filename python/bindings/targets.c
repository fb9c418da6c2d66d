// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* lld initializes every LLVM target for link-time optimization, which native libraries do not use.
   These empty definitions keep the code generators of the other targets (70 MB) out of the
   extension. When a target is missing here, importing the extension fails. */

#define TARGET(name)                                                                               \
  void LLVMInitialize##name##TargetInfo(void) {}                                                   \
  void LLVMInitialize##name##Target(void) {}                                                       \
  void LLVMInitialize##name##TargetMC(void) {}                                                     \
  void LLVMInitialize##name##AsmPrinter(void) {}                                                   \
  void LLVMInitialize##name##AsmParser(void) {}

TARGET(AArch64)
TARGET(AMDGPU)
TARGET(ARM)
TARGET(AVR)
TARGET(BPF)
TARGET(Hexagon)
TARGET(Lanai)
TARGET(LoongArch)
TARGET(M68k)
TARGET(MSP430)
TARGET(Mips)
TARGET(PowerPC)
TARGET(RISCV)
TARGET(SPIRV)
TARGET(Sparc)
TARGET(SystemZ)
TARGET(VE)
TARGET(WebAssembly)
TARGET(XCore)
TARGET(Xtensa)
