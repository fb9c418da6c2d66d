// RUN: convoy-opt %s --tcp-hoist-weights --verify-diagnostics --split-input-file

// expected-error@+1 {{expects a function @main with a body}}
module {
  func.func @other() {
    return
  }
}

// -----

module {
  func.func @main() {
    return
  }
  // expected-error@+1 {{expects no function @prepare_weights before weights are hoisted}}
  func.func @prepare_weights() {
    return
  }
}
