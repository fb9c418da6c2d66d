// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Symbols of dynamic shapes: their declarations, and the shapes of values as expressions of them.

#ifndef CONVOY_TCP_SYMBOL_OPS
#define CONVOY_TCP_SYMBOL_OPS

include "dialect/tcp/TcpDialect.td"

def Tcp_SymbolicIntOp : Tcp_Op<"symbolic_int"> {
  let summary = "declares a symbol of shapes, with its range and divisor";
  let description = [{
    A size that is unknown until `tcp-specialize-symbols` replaces it: a number from `min_val` to
    `max_val`, and a multiple of `divisor`, which is 1 if it is absent (`torch.symbolic_int` of
    torch-mlir, a `torch.export.Dim`). The result stands for the symbol in
    `tcp.bind_symbolic_shape`.

    **Constraints**

    * (c1) the name is an identifier.
    * (c2) `min_val` is at least 0 and at most `max_val`.
    * (c3) `divisor` is positive, and the range has a multiple of it.
    * (c4) the op is in the body of a function, in which no other one has its name.

    ```mlir
    %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
    %length = tcp.symbolic_int "length" {min_val = 64, max_val = 512, divisor = 64} : i64
    ```
  }];
  let arguments = (ins StrAttr:$symbol_name, I64Attr:$min_val, I64Attr:$max_val, DefaultValuedAttr<I64Attr, "1">:$divisor);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    $symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val (`,` `divisor` `=` $divisor^)? `}` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The values of the symbol, for messages: `1 to 64, a multiple of 8`.
    std::string getRangeText();
  }];
}

def Tcp_BindSymbolicShapeOp : Op<Tcp_Dialect, "bind_symbolic_shape"> {
  let summary = "the shape of a tensor as expressions of symbols";
  let description = [{
    Dim `i` of the operand has the size of result `i` of the map, whose symbols are `shape_symbols`
    (`torch.bind_symbolic_shape` of torch-mlir). Arguments of a function need it, and results whose
    `?` do not follow from the operands.

    **Constraints**

    * (c1) `shape_symbols` are results of `tcp.symbolic_int`.
    * (c2) the map has no dims, and as many symbols as `shape_symbols`.
    * (c3) the map has one result for each dim of the operand.
    * (c4) the result for a dim that is not `?` is its size.
    * (c5) no other `tcp.bind_symbolic_shape` has the operand.

    ```mlir
    tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 3, 224, 224)> : tensor<?x3x224x224xf16>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$operand, Variadic<I64>:$shape_symbols, AffineMapAttr:$shape_expressions);
  let assemblyFormat = "$operand `,` `[` $shape_symbols `]` `,` $shape_expressions attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif // CONVOY_TCP_SYMBOL_OPS
