// RUN: convoy-opt %s --tcp-collect-outside | filecheck %s

// CHECK: module attributes {tcp.manifest = {outside = [{location = "model.py:7", op = "tcp.sigmoid", reason = "elementwise, not next to an anchor"}]}}
module {
  func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
    // CHECK: tcp.sigmoid %{{.*}} : tensor<4xf16>
    %0 = tcp.sigmoid %x {tcp.outside = "elementwise, not next to an anchor"} : tensor<4xf16> -> tensor<4xf16> loc(#loc)
    return %0 : tensor<4xf16>
  }
}
#loc = loc("model.py":7:3)
