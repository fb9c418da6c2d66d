"""Reading safetensors files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convoy.artifact import HostTensor
from convoy_runtime import ArtifactError
from convoy_runtime._safetensors import read_safetensors, write_safetensors


def test_safetensors_agrees_with_the_library(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array(True),
        "c": np.zeros((0, 4), np.int64),
        "d": np.ones(16, np.float32),
    }
    tensors = {name: HostTensor(array.dtype.name, array) for name, array in arrays.items()}
    ours = b"".join(write_safetensors(tensors))
    for name, array in safetensors.load(ours).items():
        np.testing.assert_array_equal(array, arrays[name])
    theirs = read_safetensors(safetensors.save(arrays), path="x")
    assert {name: tensor.dtype for name, tensor in theirs.items()} == {
        "a": "float32",
        "b": "bool",
        "c": "int64",
        "d": "float32",
    }
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(tensor.array, arrays[name])


def test_bfloat16_is_kept_as_bits() -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    values = torch.tensor([1.0, -2.5, 3e38], dtype=torch.bfloat16)
    read = read_safetensors(safetensors.save({"v": values}), path="x")["v"]
    assert (read.dtype, read.array.dtype) == ("bfloat16", np.uint16)
    assert read.array.tolist() == values.view(torch.uint16).tolist()
    assert torch.equal(safetensors.load(b"".join(write_safetensors({"v": read})))["v"], values)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abc", "is not a safetensors file: 3 bytes are too few"),
        (b"\xff" * 16, "a header of 18446744073709551615 bytes in a file of 16"),
        (b"\x02" + b"\0" * 7 + b"{]", "the header is not JSON"),
        (b"\x02" + b"\0" * 7 + b"[]", "the header is not an object"),
        (
            b"\x08" + b"\0" * 7 + b'{"w": 1}',
            "w: expected an object with dtype, shape and data_offsets",
        ),
        (
            b"\x36"
            + b"\0" * 7
            + b'{"w": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'.ljust(54)[:54],
            "?",
        ),
    ],
)
def test_bad_safetensors(content: bytes, message: str) -> None:
    if message == "?":
        header = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        content = len(header).to_bytes(8, "little") + header + b"1234"
        message = "w: bytes 0 to 8 do not hold F32 of shape [2] in 4 bytes of data"
    with pytest.raises(ArtifactError) as caught:
        read_safetensors(content, path="w.safetensors")
    assert str(caught.value).startswith("w.safetensors: ")
    assert message in str(caught.value)
