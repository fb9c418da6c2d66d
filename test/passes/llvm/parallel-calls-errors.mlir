// RUN: convoy-opt %s --verify-diagnostics --llvm-parallel-calls

llvm.func @elsewhere(i64, i64)
llvm.func @caller(%n: i64) {
  // expected-error@+1 {{expected a parallel call to name a function with a body that takes the range first and returns nothing}}
  llvm.call @elsewhere(%n, %n) {convoy.parallel} : (i64, i64) -> ()
  llvm.return
}
