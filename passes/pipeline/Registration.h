// Everything that the compiler itself needs registered: our dialects and passes, and the upstream
// ones that the phases use.

#ifndef CONVOY_PASSES_PIPELINE_REGISTRATION_H
#define CONVOY_PASSES_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace convoy {

/// Our dialects alone, for tools that register all of upstream themselves.
void registerConvoyDialects(mlir::DialectRegistry &registry);

/// Our dialects and the upstream dialects, interfaces and translations that the phases use.
void registerCompilerDialects(mlir::DialectRegistry &registry);

} // namespace convoy

#endif // CONVOY_PASSES_PIPELINE_REGISTRATION_H
