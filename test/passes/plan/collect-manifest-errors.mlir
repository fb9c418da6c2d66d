// RUN: convoy-opt %s --split-input-file --verify-diagnostics --collect-manifest

// expected-error@+1 {{expected a function @main}}
module {}

// -----

// expected-error@+1 {{expected arguments to be memrefs of static shape, but argument #0 is 'index'}}
func.func @main(%x: index) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected every argument to be a tcp.input, tcp.weight, tcp.prepared or tcp.output, but argument #1 is none}}
func.func @main(%x: memref<4xf32> {tcp.input = "x"}, %y: memref<4xf32>) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected element types that torch has, but argument #0 is 'memref<4xi3>'}}
func.func @main(%x: memref<4xi3> {tcp.input = "x"}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected prepared weights, but got 1 original ones: phase 'normalize' prepares them}}
func.func @main(%w: memref<4xf32> {tcp.weight = "w"}) attributes {tcp.target = "cpu"} { return }

// -----

// expected-error@+1 {{expected the prepared weights that @prepare_weights makes, 0 of them in its order, but @main takes 1}}
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
