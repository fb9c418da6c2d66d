"""benchmarks/jax_resnet.py computes the same as examples/resnet.py, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import resnet
import torch

jax = pytest.importorskip(
    "jax", reason="JAX, a peer in benchmarks.compare alone, is not installed: pip install jax"
)


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_jax_model_equals_torch_model(name: str) -> None:
    from benchmarks.jax_resnet import fold, forward

    module, (x,) = getattr(resnet, name)(batch=2, size=64)
    with torch.inference_mode():
        expected = module.double()(x.double()).numpy()
        state = {key: tensor.numpy() for key, tensor in module.state_dict().items()}
    run = jax.jit(forward, static_argnames="precision")
    image = jax.numpy.asarray(x.permute(0, 2, 3, 1).numpy())
    got = np.asarray(
        run(fold(state, jax.numpy.float32), image, precision=jax.lax.Precision.HIGHEST)
    )
    assert got.shape == (2, 1000)
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("graphs", [False, True])
def test_the_runner_is_timed_on_the_checked_program(graphs: bool) -> None:
    from benchmarks.jax_resnet import fold
    from benchmarks.runners.xla import _GRAPHS, LOOP, JaxRunner

    module, (x,) = resnet.resnet18(batch=1, size=32)
    with torch.inference_mode():
        expected = module(x).numpy()
    weights = fold(
        {key: tensor.numpy() for key, tensor in module.state_dict().items()}, jax.numpy.float32
    )
    runner = JaxRunner(
        weights,
        jax.numpy.asarray(x.permute(0, 2, 3, 1).numpy()),
        jax.lax.Precision.HIGHEST,
        _GRAPHS if graphs else None,
    )
    np.testing.assert_allclose(runner.output, expected, atol=1e-4 * np.abs(expected).max())
    assert runner.details["timed as"] in ("calls", f"a loop of {LOOP}")
    # XLA keeps every convolution inside the loop and has its trip count, so the host does not
    # synchronize with the GPU after each iteration.
    program = runner._loop.func.as_text()  # type: ignore[attr-defined]
    body, entry = program[: program.index("\nENTRY")], program[program.index("\nENTRY") :]
    assert body.count("convolution(") == 20
    assert "convolution(" not in entry
    assert f'"known_trip_count":{{"n":"{LOOP}"}}' in entry
    assert runner.time(3) > 0
