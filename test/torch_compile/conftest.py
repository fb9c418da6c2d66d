# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The backend with caches of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import convoy.torch_compile as backend


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    backend.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Any]:
    def compile_it(module: Any, **options: Any) -> Any:
        return torch.compile(
            module, backend="convoy", options={"cache_dir": tmp_path / "cache", **options}
        )

    return compile_it
