// From a module at phase llvm to the bytes that an artifact holds.

#ifndef CONVOY_PASSES_EMIT_EMIT_H
#define CONVOY_PASSES_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include <map>

namespace convoy {

/// What one compilation makes.
struct Emitted {
  std::string native; ///< a shared library
  /// PTX by the name of the `gpu.module` that it was: `kernels` are the program's own, every other
  /// one is a kernel that a graph may run.
  std::map<std::string, std::string> ptx;
  std::string manifest; ///< JSON text, without what only the writer of the artifact knows
                        ///< (versions, hashes)
};

/// Emits `module`, which is at phase llvm and is changed, for the CPU named `cpu` ("native": this
/// one). Errors go to the module.
mlir::FailureOr<Emitted> emitModule(mlir::ModuleOp module, llvm::StringRef cpu);

/// Links an object file, and the support code, into a shared library that exports the ABI's
/// functions. Symbols that stay undefined are an error. False with the linker's words in `error`.
bool linkShared(llvm::StringRef object, std::string &library, std::string &error);

} // namespace convoy

#endif // CONVOY_PASSES_EMIT_EMIT_H
