# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Benchmark cases: a model, a dtype and a batch size, named like the artifacts that
`benchmarks.build` writes."""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import torch

__all__ = ["DTYPES", "Case", "models"]

#: Dtype in an artifact's name to the largest allowed difference from fp64, relative to the largest
#: output. `strict` is float32 without TF32.
DTYPES = {"float16": 1e-2, "bfloat16": 3e-2, "float32": 5e-3, "strict": 1e-4}
_EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def models() -> ModuleType:
    """examples/resnet.py, imported as `resnet`."""
    if str(_EXAMPLES) not in sys.path:
        sys.path.insert(0, str(_EXAMPLES))
    return importlib.import_module("resnet")


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One row of a table. `kind` is a key of DTYPES; the image is `batch` x 3 x 224 x 224."""

    model: str
    kind: str
    batch: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Case:
        """Parses the file name of an artifact, `MODEL-DTYPE-BATCH.convoy`.

        Raises:
            ValueError: The name has another form.
        """
        name = Path(path).name
        found = re.fullmatch(rf"(\w+)-({'|'.join(DTYPES)})-(\d+)(?:\.convoy)?", name)
        if found is None:
            msg = (
                "expected MODEL-DTYPE-BATCH.convoy, as benchmarks.build writes, where DTYPE is "
                f"one of {', '.join(DTYPES)}, got {name}"
            )
            raise ValueError(msg)
        return cls(found[1], found[2], int(found[3]))

    @property
    def key(self) -> str:
        """The case as text, e.g. resnet50-float16-32."""
        return f"{self.model}-{self.kind}-{self.batch}"

    @property
    def place(self) -> tuple[str, int, int]:
        """The sort key in tables: model, index of the dtype in DTYPES, batch size."""
        return self.model, list(DTYPES).index(self.kind), self.batch

    @property
    def dtype(self) -> str:
        """The torch name of the compute dtype."""
        return "float32" if self.kind == "strict" else self.kind

    @property
    def tf32(self) -> bool:
        """Whether float32 may be rounded to TF32."""
        return self.kind != "strict"

    @property
    def limit(self) -> float:
        """The largest allowed difference from fp64, relative to the largest output."""
        return DTYPES[self.kind]

    def build(self) -> tuple[torch.nn.Module, torch.Tensor]:
        """The module in evaluation mode, with seeded random weights, and its input. Both are
        float32 on the CPU; the input is `batch` x 3 x 224 x 224."""
        module, (x,) = getattr(models(), self.model)(batch=self.batch)
        return module, x

    def expected(self) -> np.ndarray:
        """PyTorch's fp64 result for `build()`, computed on the GPU: batch x classes."""
        import torch

        module, x = self.build()
        with torch.inference_mode():
            result: np.ndarray = module.double().cuda()(x.double().cuda()).cpu().numpy()
        torch.cuda.empty_cache()
        return result
