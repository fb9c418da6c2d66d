"""The compressed PTX of kernels: what is packed is restored, and everything else is refused."""

from __future__ import annotations

import gzip

import pytest

from convoy_runtime import ptx_members
from convoy_runtime.errors import ArtifactError
from convoy_runtime.ptx_members import pack_ptx, unpack_ptx

TEXT = b".version 8.0\n.target sm_80\n" * 100


def test_restores_the_text() -> None:
    packed = pack_ptx(TEXT)
    assert len(packed) < len(TEXT) / 10
    assert packed == pack_ptx(TEXT)
    assert unpack_ptx(memoryview(packed), "kernels/k.ptx.gz") == TEXT
    assert gzip.decompress(packed) == TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected one stream of at most .* bytes, got a truncated or larger one"),
        (TEXT, "is not PTX that gzip has compressed: Error -3"),
        (pack_ptx(TEXT)[:-1], "got a truncated or larger one"),
        (pack_ptx(TEXT) + b"x", "got bytes after the stream"),
        (pack_ptx(TEXT)[:-8] + bytes(8), "incorrect data check"),
    ],
)
def test_refuses_other_content(content: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=message) as caught:
        unpack_ptx(content, "kernels/k.ptx.gz")
    assert caught.value.member == "kernels/k.ptx.gz"


def test_refuses_more_bytes_than_a_kernel_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptx_members, "_MOST_BYTES", 100)
    with pytest.raises(ArtifactError, match="got a truncated or larger one"):
        unpack_ptx(pack_ptx(TEXT), "kernels/k.ptx.gz")
