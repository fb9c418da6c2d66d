// RUN: convoy-opt %s --verify-diagnostics --llvm-parallel-calls

llvm.func @elsewhere(i64, i64)
llvm.func @caller(%n: i64) {
  // expected-error@+1 {{expected a parallel call of a function with a body, an iteration range as first arguments and no results}}
  llvm.call @elsewhere(%n, %n) {convoy.parallel} : (i64, i64) -> ()
  llvm.return
}
