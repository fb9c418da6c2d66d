// RUN: convoy-opt %s --split-input-file --verify-diagnostics --llvm-entry-points

// expected-error@+1 {{expected a function @main}}
module {}

// -----

// expected-error@+1 {{expected argument #0 of @main to be one of tcp.input tcp.prepared tcp.output tcp.arena}}
llvm.func @main(%x: !llvm.ptr) attributes {tcp.target = "cpu"} { llvm.return }
