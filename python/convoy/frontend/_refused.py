# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Why an op has no conversion."""

from __future__ import annotations

import re

__all__ = ["reason_of"]

_REASONS = {
    "the shape of its result depends on the values of a tensor, and shapes are static; expected a "
    "known number of counts, as in torch.bincount(x, minlength=n)[:n]": r"bincount",
    "the shape of its result depends on the values of a tensor, and shapes are static; expected an "
    "op whose shapes depend on shapes only, such as torch.where": (
        r"nonzero|nonzero_static|masked_select|argwhere|unique\w*|_unique\w*"
        r"|repeat_interleave\.Tensor|_local_scalar_dense|item|is_nonzero|equal|tensor_split\.tensor\w*"
        r"|nms"
    ),
    "it is linear algebra that is computed for real matrices of at most 32 rows, with pivots; "
    "expected such matrices, or a model that computes it before compilation": (
        r"linalg_inv_ex|_linalg_solve_ex|_linalg_det|_linalg_slogdet|linalg_lu_factor_ex"
        r"|linalg_lu_solve|linalg_cholesky_ex|cholesky|cholesky_solve|cholesky_inverse"
        r"|linalg_solve_triangular|linalg_qr|linalg_householder_product|linalg_lu|lu_unpack"
        r"|triangular_solve|_linalg_eigh|_linalg_svd|linalg_pinv"
    ),
    "it is linear algebra beyond products of matrices, which tcp does not have; expected a model "
    "that computes it before compilation": (
        r"linalg_(?!vector_norm|matrix_norm|norm|cross|vecdot|multi_dot)\w+|_linalg_\w+|cholesky\w*"
        r"|lu_solve|_lu\w*|geqrf|ormqr|orgqr|qr|svd|inverse|logdet"
        r"|slogdet|det|lstsq|pinverse|matrix_exp|symeig|householder_product"
    ),
    "it reads the value of a tensor as a number; expected an op on the tensor itself, such as "
    "torch.where or an index": r"Int|Float|Bool|IntImplicit|FloatImplicit|ScalarImplicit",
    "it makes random numbers, and a compiled model is deterministic; expected random tensors as "
    "inputs": (
        r"rand\w*|normal\w*|bernoulli\w*|multinomial|poisson|uniform\w*|exponential\w*|cauchy\w*"
        r"|geometric\w*|log_normal\w*|binomial|_sample_dirichlet|_standard_gamma|rrelu\w*"
        r"|random\w*|native_dropout"
    ),
    "tcp has dense tensors only": r"_?sparse_\w+|_?to_sparse\w*|coalesce|values|indices",
    "it computes with quantized tensors, which tcp does not have": r"\w*quantize\w*|q_\w+",
}
_OTHER = "it has no conversion to tcp"
_LIBRARY = (
    "it is an op of another library than PyTorch; expected a kernel for all devices that consists "
    "of PyTorch's ops and does not use the values of tensors"
)


def reason_of(name: str) -> str:
    """The reason why an op without a converter is refused.

    Args:
        name: The name of the op, e.g. "aten.nonzero".

    Returns:
        A part of an error message.
    """
    library, _, op = name.partition(".")
    for reason, pattern in _REASONS.items():
        if re.fullmatch(rf"(?:{pattern})(?:\..*)?", op):
            return f"{_OTHER}: {reason}"
    return _OTHER if library in ("aten", "prims", "prim") else f"{_OTHER}: {_LIBRARY}"
