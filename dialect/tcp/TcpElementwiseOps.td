// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementwise ops.

#ifndef CONVOY_TCP_ELEMENTWISE_OPS
#define CONVOY_TCP_ELEMENTWISE_OPS

include "dialect/tcp/TcpDialect.td"

class Tcp_UnaryOp<string mnemonic, string what, string aten, Constraint type, list<Trait> traits = []>
    : Tcp_Op<mnemonic, !listconcat([SameOperandsAndResultType, Tcp_Elementwise, Tcp_ShapeOpInterface], traits)> {
  let summary = what;
  let description = "Elementwise " # what # " (" # aten # ").\n\n```mlir\n%y = tcp." # mnemonic #
                    " %x : tensor<4xf32> -> tensor<4xf32>\n```\n";
  let arguments = (ins type:$input);
  let results = (outs type:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def Tcp_AbsOp : Tcp_UnaryOp<"abs", "absolute value", "aten.abs", Tcp_Tensor> { let hasFolder = 1; }
def Tcp_CeilOp : Tcp_UnaryOp<"ceil", "round toward positive infinity", "aten.ceil", Tcp_FloatTensor> { let hasFolder = 1; }
def Tcp_CosOp : Tcp_UnaryOp<"cos", "cosine", "aten.cos", Tcp_FloatTensor>;
def Tcp_ErfOp : Tcp_UnaryOp<"erf", "error function", "aten.erf", Tcp_FloatTensor>;
def Tcp_ExpOp : Tcp_UnaryOp<"exp", "natural exponential", "aten.exp", Tcp_FloatTensor>;
def Tcp_Expm1Op : Tcp_UnaryOp<"expm1", "natural exponential minus one, accurate near zero", "aten.expm1", Tcp_FloatTensor>;
def Tcp_FloorOp : Tcp_UnaryOp<"floor", "round toward negative infinity", "aten.floor", Tcp_FloatTensor> { let hasFolder = 1; }
def Tcp_LogOp : Tcp_UnaryOp<"log", "natural logarithm", "aten.log", Tcp_FloatTensor>;
def Tcp_NegOp : Tcp_UnaryOp<"neg", "negation", "aten.neg", Tcp_Tensor> { let hasFolder = 1; }
def Tcp_ReciprocalOp : Tcp_UnaryOp<"reciprocal", "one over each element", "aten.reciprocal", Tcp_FloatTensor> { let hasFolder = 1; }
def Tcp_RoundOp : Tcp_UnaryOp<"round", "round to nearest, ties to even", "aten.round", Tcp_FloatTensor> { let hasFolder = 1; }
def Tcp_RsqrtOp : Tcp_UnaryOp<"rsqrt", "one over the square root", "aten.rsqrt", Tcp_FloatTensor>;
def Tcp_SigmoidOp : Tcp_UnaryOp<"sigmoid", "logistic function", "aten.sigmoid", Tcp_FloatTensor>;
def Tcp_SiluOp : Tcp_UnaryOp<"silu", "x times its sigmoid", "aten.silu", Tcp_FloatTensor>;
def Tcp_SinOp : Tcp_UnaryOp<"sin", "sine", "aten.sin", Tcp_FloatTensor>;
def Tcp_SqrtOp : Tcp_UnaryOp<"sqrt", "square root", "aten.sqrt", Tcp_FloatTensor>;
def Tcp_TanhOp : Tcp_UnaryOp<"tanh", "hyperbolic tangent", "aten.tanh", Tcp_FloatTensor>;

def Tcp_GeluApproximation : Tcp_Enum<"GeluApproximation", "how GELU is computed: exactly, or with tanh", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"Tanh", 1, "tanh">]>;

def Tcp_GeluOp : Tcp_UnaryOp<"gelu", "Gaussian error linear unit", "aten.gelu", Tcp_FloatTensor> {
  let arguments = (ins Tcp_FloatTensor:$input, DefaultValuedAttr<Tcp_EnumString<Tcp_GeluApproximation>, "::convoy::tcp::GeluApproximation::None">:$approximate);
  let hasVerifier = 1;
}

def Tcp_EluOp : Tcp_UnaryOp<"elu", "exponential linear unit", "aten.elu", Tcp_FloatTensor> {
  let arguments = (ins Tcp_FloatTensor:$input, F64Attr:$alpha);
}

def Tcp_LeakyReluOp : Tcp_UnaryOp<"leaky_relu", "x where positive, negative_slope * x elsewhere", "aten.leaky_relu", Tcp_FloatTensor> {
  let arguments = (ins Tcp_FloatTensor:$input, F64Attr:$negative_slope);
}

def Tcp_PolynomialOp : Tcp_UnaryOp<"polynomial", "polynomial by Horner's scheme", "", Tcp_FloatTensor> {
  let description = [{
    `c[0] + x * (c[1] + x * (c[2] + ...))`, where `c` is `coefficients` rounded to the element type.
    A step is a multiplication and an addition, which may be contracted to one operation. The
    frontend approximates special functions by polynomials (aten.special_i0e, aten.lgamma).

    **Constraints**

    * (c1) there is at least one coefficient.

    ```mlir
    %y = tcp.polynomial %x {coefficients = array<f64: 1.0, 0.0, 0.5>} : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, DenseF64ArrayAttr:$coefficients);
  let hasVerifier = 1;
}

def Tcp_ClampOp : Tcp_UnaryOp<"clamp", "limit to a range", "aten.clamp, relu, relu6, hardtanh", Tcp_FloatTensor> {
  let description = [{
    `min(max(x, min_float), max_float)`, where either bound may be absent. NaN stays NaN. ReLU is
    the clamp with `min_float = 0`.

    **Constraints**

    * (c1) at least one bound is present.
    * (c2) `min_float` is at most `max_float`.

    ```mlir
    %y = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$input, OptionalAttr<F32Attr>:$min_float, OptionalAttr<F32Attr>:$max_float);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Whether this is ReLU: a lower bound of 0 and no upper bound.
    bool isRelu() { return getMinFloat() && getMinFloat()->isZero() && !getMaxFloat(); }
  }];
}

def Tcp_CastOp : Tcp_Op<"cast", [SameOperandsAndResultShape, Tcp_Elementwise, Tcp_ShapeOpInterface]> {
  let summary = "converts to another element type";
  let description = [{
    Float to float rounds to nearest even, float to integer truncates toward zero, and the
    conversion to `i1` is `x != 0` (aten._to_copy).

    ```mlir
    %y = tcp.cast %x : tensor<4xf32> -> tensor<4xf16>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$input);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

class Tcp_BinaryOp<string mnemonic, string what, string aten, list<Trait> traits = []>
    : Tcp_Op<mnemonic, !listconcat([SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_Elementwise, Tcp_ShapeOpInterface], traits)> {
  let summary = what;
  let description = "Elementwise " # what # " (" # aten # ").\n\n**Constraints**\n\n* (c1) each result dim is the operands' "
                    "dim; dims of size 1 broadcast.\n\n```mlir\n%y = tcp." # mnemonic #
                    " %a, %b : tensor<1x64x8x8xf32>, tensor<1x64x1x1xf32> -> tensor<1x64x8x8xf32>\n```\n";
  let arguments = (ins Tcp_Tensor:$lhs, Tcp_Tensor:$rhs);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($output)";
  let hasFolder = 1;
}

def Tcp_AddOp : Tcp_BinaryOp<"add", "sum", "aten.add", [Commutative]>;
def Tcp_SubOp : Tcp_BinaryOp<"sub", "difference", "aten.sub">;
def Tcp_MulOp : Tcp_BinaryOp<"mul", "product", "aten.mul", [Commutative]>;
def Tcp_DivOp : Tcp_BinaryOp<"div", "quotient; for integers rounded toward zero, and 0 if the divisor is 0", "aten.div">;
def Tcp_MaximumOp : Tcp_BinaryOp<"maximum", "larger of two, NaN if either is", "aten.maximum", [Commutative]>;
def Tcp_MinimumOp : Tcp_BinaryOp<"minimum", "smaller of two, NaN if either is", "aten.minimum", [Commutative]>;
def Tcp_PowOp : Tcp_BinaryOp<"pow", "first raised to the second", "aten.pow">;

class Tcp_IntBinaryOp<string mnemonic, string what, string aten, list<Trait> traits = []>
    : Tcp_BinaryOp<mnemonic, what, aten, traits> {
  let description = "Elementwise " # what # " of integers (" # aten # ").\n\n**Constraints**\n\n* (c1) each result dim is the "
                    "operands' dim; dims of size 1 broadcast.\n\n```mlir\n%y = tcp." # mnemonic #
                    " %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>\n```\n";
  let arguments = (ins Tcp_IntTensor:$lhs, Tcp_IntTensor:$rhs);
  let results = (outs Tcp_IntTensor:$output);
  let hasFolder = 0;
}

def Tcp_BitwiseAndOp : Tcp_IntBinaryOp<"bitwise_and", "and of each bit", "aten.bitwise_and", [Commutative]>;
def Tcp_BitwiseOrOp : Tcp_IntBinaryOp<"bitwise_or", "or of each bit", "aten.bitwise_or", [Commutative]>;
def Tcp_BitwiseXorOp : Tcp_IntBinaryOp<"bitwise_xor", "exclusive or of each bit", "aten.bitwise_xor", [Commutative]>;
def Tcp_ShiftLeftOp : Tcp_IntBinaryOp<"shift_left", "product with two to the second, 0 if the second is negative or not below the number of bits,", "aten.bitwise_left_shift">;
def Tcp_ShiftRightOp : Tcp_IntBinaryOp<"shift_right", "quotient by two to the second, rounded down, -1 or 0 if the second is negative or not below the number of bits,", "aten.bitwise_right_shift">;
def Tcp_GcdOp : Tcp_IntBinaryOp<"gcd", "greatest common divisor, which is positive, or 0 of two zeros,", "aten.gcd", [Commutative]>;

def Tcp_CopysignOp : Tcp_Op<"copysign", [SameOperandsAndResultElementType, SameOperandsAndResultRank, Tcp_Elementwise, Tcp_ShapeOpInterface]> {
  let summary = "magnitude of the first with the sign of the second";
  let description = [{
    The sign of a zero and of a NaN counts (aten.copysign).

    **Constraints**

    * (c1) each result dim is the operands' dim; dims of size 1 broadcast.

    ```mlir
    %y = tcp.copysign %a, %b : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tcp_FloatTensor:$lhs, Tcp_FloatTensor:$rhs);
  let results = (outs Tcp_FloatTensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($output)";
}

def Tcp_ComparePredicate : Tcp_Enum<"ComparePredicate", "a comparison of two numbers", [
  I32EnumCase<"Eq", 0, "eq">, I32EnumCase<"Ne", 1, "ne">, I32EnumCase<"Lt", 2, "lt">, I32EnumCase<"Le", 3, "le">,
  I32EnumCase<"Gt", 4, "gt">, I32EnumCase<"Ge", 5, "ge">]>;

def Tcp_CompareOp : Tcp_Op<"compare", [SameOperandsElementType, SameOperandsAndResultRank, Tcp_Elementwise, Tcp_ShapeOpInterface]> {
  let summary = "compares two tensors";
  let description = [{
    `predicate` is one of `eq`, `ne`, `lt`, `le`, `gt`, `ge`. Comparisons with NaN are false, except
    `ne` (aten.eq, ne, lt, le, gt, ge).

    **Constraints**

    * (c1) each result dim is the operands' dim; dims of size 1 broadcast.
    * (c2) `predicate` is one of these six.

    ```mlir
    %y = tcp.compare %a, %b {predicate = "lt"} : tensor<4xf32>, tensor<1xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Tcp_Tensor:$lhs, Tcp_Tensor:$rhs, Tcp_EnumString<Tcp_ComparePredicate>:$predicate);
  let results = (outs Tcp_BoolTensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tcp_SelectOp : Tcp_Op<"select", [SameOperandsAndResultRank, Tcp_Elementwise, Tcp_ShapeOpInterface, AllElementTypesMatch<["on_true", "on_false", "output"]>]> {
  let summary = "selects between two tensors";
  let description = [{
    The element of `on_true` where the condition is true, of `on_false` elsewhere (aten.where).

    **Constraints**

    * (c1) each result dim is the operands' dim; dims of size 1 broadcast.

    ```mlir
    %y = tcp.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tcp_BoolTensor:$condition, Tcp_Tensor:$on_true, Tcp_Tensor:$on_false);
  let results = (outs Tcp_Tensor:$output);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false) `->` type($output)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // CONVOY_TCP_ELEMENTWISE_OPS
