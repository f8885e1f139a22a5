"""heed on JAX's arrays: agreement with jax.nn.dot_product_attention, and how memory is shared.

JAX has heads after positions, [B, T, N, H], and heed before them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin

import heed

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy

B, T, S, N, K, H = 2, 9, 13, 6, 2, 16
TOLERANCE = {"float32": 1e-5, "bfloat16": 2e-2}


def _arrays(seed: int, *shapes: tuple[int, ...], dtype: Any = "float32") -> list[Any]:
    return [jnp.asarray(x, dtype) for x in twin.arrays(seed, *shapes, dtype=np.float32)]


def _swap(x: Any) -> Any:
    return jnp.swapaxes(x, 1, 2)


def _compare(q: Any, k: Any, v: Any, options: dict[str, Any], theirs: dict[str, Any]) -> None:
    ours = heed.attention(_swap(q), _swap(k), _swap(v), **options)
    right = jax.nn.dot_product_attention(q, k, v, **theirs)
    assert isinstance(ours, jax.Array) and ours.dtype == right.dtype
    np.testing.assert_allclose(
        np.asarray(_swap(ours), np.float32),
        np.asarray(right, np.float32),
        atol=TOLERANCE[q.dtype.name],
        rtol=0,
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("sizes", [(T, S), (1, S), (70, 140)], ids=str)
def test_agreement_with_jax(sizes: tuple[int, int], dtype: str) -> None:
    t, s = sizes
    q, k, v = _arrays(1, (B, t, N, H), (B, s, N, H), (B, s, N, H), dtype=dtype)
    bias = _arrays(2, (B, N, t, s), dtype=dtype)[0]
    mask = jnp.asarray(np.random.default_rng(0).random((1, N, t, s)) < 0.7).at[..., 0].set(True)
    lengths = jnp.array([s // 2 + 1, s], jnp.int32)
    for options, theirs in [
        ({}, {}),
        ({"scale": 0.3}, {"scale": 0.3}),
        ({"mask": heed.causal()}, {"is_causal": True}),
        ({"mask": mask}, {"mask": mask}),
        ({"mask": bias}, {"bias": bias}),
        ({"modifiers": heed.dense_bias(bias[:1, :1])}, {"bias": bias[:1, :1]}),
        ({"mask": heed.key_lengths(lengths)}, {"key_value_seq_lengths": lengths}),
        (
            {"mask": heed.boolean_mask(mask) & heed.causal(), "modifiers": heed.dense_bias(bias)},
            {"mask": mask, "is_causal": True, "bias": bias},
        ),
    ]:
        _compare(q, k, v, options, theirs)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("window", [3, (4, 1), (0, 2)], ids=str)
def test_windows(window: Any, dtype: str) -> None:
    q, k, v = _arrays(3, *3 * [(B, S, N, H)], dtype=dtype)
    left, right = (window, window) if isinstance(window, int) else window
    theirs = {"local_window_size": window}
    _compare(q, k, v, {"mask": heed.window(left, right)}, theirs)
    both = {"mask": heed.window(left, right) & heed.causal()}
    _compare(q, k, v, both, {**theirs, "is_causal": True})


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("groups", [1, K])
def test_grouped_heads(groups: int, dtype: str) -> None:
    q, k, v = _arrays(4, (B, T, N, H), (B, S, groups, H), (B, S, groups, H), dtype=dtype)
    causal = {"mask": heed.causal(), "enable_gqa": True}
    _compare(q, k, v, causal, {"is_causal": True})


def test_log_sum_exp() -> None:
    q, k, v = _arrays(5, (B, T, N, H), (B, S, N, H), (B, S, N, H))
    _, lse = heed.attention(_swap(q), _swap(k), _swap(v), return_lse=True)
    try:
        _, right = jax.nn.dot_product_attention(q, k, v, return_residual=True)
    except TypeError:
        pytest.skip("this version of jax returns no log-sum-exp")
    np.testing.assert_allclose(_swap(lse), right, atol=1e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_gradients(dtype: str) -> None:
    q, k, v, dy = _arrays(6, *4 * [(B, T, N, H)], dtype=dtype)
    bias = _arrays(7, (1, N, T, T), dtype=dtype)[0]

    def theirs(q: Any, k: Any, v: Any, bias: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, bias, is_causal=True)

    right = jax.vjp(theirs, q, k, v, bias)[1](dy)
    options = {"modifiers": heed.dense_bias(bias), "mask": heed.causal()}
    gradients = heed.backward(*(_swap(x) for x in (dy, q, k, v)), **options)
    ours = (*(_swap(g) for g in gradients[:3]), *gradients.others)
    for a, b in zip(ours, right):
        assert isinstance(a, jax.Array) and a.dtype == b.dtype
        tolerance = 1e-5 if dtype == "float32" else 4e-2
        np.testing.assert_allclose(
            np.asarray(a, np.float32), np.asarray(b, np.float32), atol=tolerance, rtol=tolerance
        )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_all_results_are_jax_arrays(dtype: str) -> None:
    x = _arrays(8, (B, N, T, H), dtype=dtype)[0]
    results = heed.attention(
        x,
        x,
        x,
        past_key=x,
        past_value=x,
        return_weights=True,
        return_lse=True,
        return_scores="raw",
        return_present=True,
    )
    shapes = [x.shape, (B, N, T, 2 * T), (B, N, T), (B, N, T, 2 * T), *2 * [(B, N, 2 * T, H)]]
    for result, shape in zip(results, shapes):
        assert isinstance(result, jax.Array) and result.shape == shape
        assert result.dtype == (jnp.float32 if len(shape) == 3 else dtype)
    np.testing.assert_array_equal(results[-1], jnp.concatenate((x, x), 2))
    cache = heed.KVCache(batch=B, heads=N, features=H)
    cache.append(x, x)
    assert isinstance(cache.attend(x), jax.Array)
    assert isinstance(heed.scaled_dot_product_attention(x, x, x), jax.Array)


def test_results_live_on_and_go_through_jax() -> None:
    x = _arrays(9, (B, N, T, H))[0]
    outputs = [heed.attention(x * i, x, x) for i in range(20)]
    sums = jax.jit(lambda a: a.sum())
    right = [twin.attention(np.asarray(x) * i, np.asarray(x), np.asarray(x)) for i in range(20)]
    del x
    for ours, theirs in zip(outputs, right):
        np.testing.assert_allclose(sums(ours), theirs.output.sum(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_unfinished_computations_are_waited_for(dtype: str) -> None:
    @jax.jit
    def slow(x: Any) -> Any:
        m = jnp.eye(400, dtype=jnp.float32) * 1.0001
        m = jax.lax.fori_loop(0, 30, lambda i, a: a @ jnp.eye(400), m)
        return (x * m[0, 0]).astype(dtype)

    x = _arrays(10, (B, N, T, H))[0]
    slow(x).block_until_ready()
    for i in range(5):
        pending = slow(x + i)
        ours = heed.attention(pending, pending, pending)
        done = pending.block_until_ready()
        np.testing.assert_array_equal(ours, heed.attention(done, done, done))


def _peak(reset: bool) -> int:
    """The most memory that the process has held since the last reset, in bytes."""
    if reset:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    with open("/proc/self/status") as f:
        line = next(line for line in f if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize("shapes", [((1, 64), (1 << 18, 64)), ((1 << 18, 64), (1, 64))], ids=str)
def test_nothing_is_copied(shapes: Any) -> None:
    """Of 64 MB of keys and as much of values, or of 64 MB of queries and as much of results."""
    q, k, v = (jnp.ones(shape, jnp.float32) for shape in (shapes[0], shapes[1], shapes[1]))
    jax.block_until_ready((q, k, v))
    heed.attention(q[:1], k[:1], v[:1])
    try:
        before = _peak(reset=True)
    except OSError:
        pytest.skip("the system does not tell the peak of memory")
    output = heed.attention(q, k, v)
    grown = _peak(reset=False) - before
    assert grown < output.nbytes + (24 << 20)


def test_immutable_arrays_are_not_written_to() -> None:
    for dtype in ("float32", "bfloat16"):
        x = _arrays(11, (B, N, T, H), dtype=dtype)[0]
        out = jnp.zeros_like(x)
        with pytest.raises(TypeError, match="out: .*read-only"):
            heed.attention(x, x, x, out=out)
        assert (out == 0).all()
        result = heed.attention(np.asarray(x), np.asarray(x), x)
        assert isinstance(result, np.ndarray)


def test_what_jax_traces_is_refused() -> None:
    x = _arrays(12, (B, N, T, H))[0]
    with pytest.raises(TypeError, match="traced"):
        jax.jit(lambda a: heed.attention(a, a, a))(x)
    with pytest.raises(TypeError, match="q: "):
        heed.attention(*3 * [x.astype(jnp.int32)])


def test_deleted_arrays_are_refused() -> None:
    x, y = _arrays(13, (B, N, T, H), (B, N, T, H))
    y.delete()
    with pytest.raises((TypeError, RuntimeError)):
        heed.attention(x, y, x)
