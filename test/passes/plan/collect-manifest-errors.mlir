// RUN: convoy-opt %s --split-input-file --verify-diagnostics --collect-manifest

// expected-error@+1 {{expected a function @main}}
module {}

// -----

// expected-error@+1 {{expected arguments to be memrefs of static shape, but argument #0 is 'index'}}
func.func @main(%x: index) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected every argument to be a tcp.input, tcp.weight, tcp.prepared or tcp.output, but argument #1 has none of these attributes}}
func.func @main(%x: memref<4xf32> {tcp.input = "x"}, %y: memref<4xf32>) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected element types of PyTorch, but argument #0 is 'memref<4xi3>'}}
func.func @main(%x: memref<4xi3> {tcp.input = "x"}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected prepared weights, but got 1 original weights, which phase 'normalize' prepares}}
func.func @main(%w: memref<4xf32> {tcp.weight = "w"}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected the 0 prepared weights that @prepare_weights returns, in the same order, but got 1}}
func.func @main(%w: memref<4xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected 'tcp.target'}}
func.func @main(%x: memref<4xf32> {tcp.input = "x"}) { return }

// -----

// expected-error@+1 {{expected the arena to have one dim of i8, but argument #0 is 'memref<i8>'}}
func.func @main(%arena: memref<i8> {tcp.arena}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected the arena to have one dim of i8, but argument #0 is 'memref<8xf32>'}}
func.func @main(%arena: memref<8xf32> {tcp.arena}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected 'tcp.unsigned' on elements of i8, but argument #0 is 'memref<8xf32>'}}
func.func @main(%x: memref<8xf32> {tcp.input = "x", tcp.unsigned}, %arena: memref<0xi8> {tcp.arena}) attributes {tcp.target = "cpu"} { return }
