// RUN: convoy-opt %s --split-input-file --convoy-complete-program --verify-diagnostics
// RUN: not convoy-opt %s --split-input-file --convoy-complete-program=target=tpu 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not convoy-opt %s --split-input-file --convoy-run-phases="options='from=tcp to=nowhere'" 2>&1 | filecheck %s --check-prefix=PHASE

// TARGET: error: expected target to be cpu or cuda, but got 'tpu'
// PHASE: error: convoy-run-phases: expected 'to' to be one of tcp, {{.*}}, but got 'nowhere'

// expected-error @+1 {{expected target=cuda, the tcp.target of the module, but got target=cpu; a program of another target starts at phase 'tcp'}}
module attributes {tcp.target = "cuda"} {
  func.func @main() { return }
}

// -----

func.func @main(%x: tensor<8x4xf16>) -> tensor<8x4xf16> {
  // expected-error @+1 {{expected target=cuda, because 'cudnn.get_current_handle' runs on a GPU, but got target=cpu}}
  %h = cudnn.get_current_handle !cudnn.handle
  return %x : tensor<8x4xf16>
}
