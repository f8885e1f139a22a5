"""heed.KVCache: attention step by step is attention at once, whatever is done to the cache."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import twin

import heed

B, H, G, T, D, DV = 2, 6, 3, 12, 8, 5
SHAPES = (B, H, T, D), (B, G, T, D), (B, G, T, DV)


def _cache(**options: Any) -> heed.KVCache:
    given = {"batch": B, "heads": G, "features": D, "value_features": DV, "dtype": "f64"}
    return heed.KVCache(**{**given, **options})


def _right(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: Any = True) -> np.ndarray:
    k, v = twin.repeat_heads(k, q.shape[1]), twin.repeat_heads(v, q.shape[1])
    return twin.attention(q, k, v, seen=seen).output


@pytest.mark.parametrize("steps", [[1] * T, [4, 1, 1, 6], [T]])
def test_step_by_step_as_at_once(steps: list[int]) -> None:
    q, k, v = twin.arrays(1, *SHAPES)
    whole = _right(q, k, v, twin.causal(T, T))
    cache = _cache()
    t = 0
    for n in steps:
        now = slice(t, t + n)
        cache.append(k[:, :, now], v[:, :, now])
        t += n
        assert len(cache) == cache.length == t and cache.first_position == 0
        step = cache.attend(q[:, :, now], mask=heed.causal("bottom_right"))
        np.testing.assert_allclose(step, whole[:, :, now], atol=1e-12)
    np.testing.assert_array_equal(cache.keys, k)
    np.testing.assert_array_equal(cache.values, v)
    assert cache.batch == B and cache.nbytes >= k.nbytes + v.nbytes


@pytest.mark.parametrize("cached", ["f64", "f32", "bf16"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("queries", [1, 3, 20])
def test_every_type_of_query_and_cache(dtype: Any, cached: str, queries: int) -> None:
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    q, k, v = twin.arrays(2, (B, H, queries, D), *SHAPES[1:], dtype=dtype)
    cache = _cache(dtype=cached)
    cache.append(k, v)
    output = cache.attend(q)
    assert output.dtype == q.dtype and output.shape == (B, H, queries, DV)
    exact = cached != "bf16" and dtype in ("float64", "float32")
    right = _right(*(x.astype(np.float64) for x in (q, k, v)))
    np.testing.assert_allclose(output.astype(np.float64), right, atol=1e-5 if exact else 2e-2)


def test_stages_of_the_call() -> None:
    q, k, v, b = twin.arrays(3, *SHAPES, (H, T, T))
    cache = _cache()
    cache.append(k, v)
    output = cache.attend(
        q,
        modifiers=[heed.dense_bias(b), heed.soft_cap(2.0)],
        mask=heed.causal("bottom_right"),
        normaliser="sigmoid",
        scale=0.5,
    )
    right = twin.attention(
        q,
        twin.repeat_heads(k, H),
        twin.repeat_heads(v, H),
        score=twin.scaled_dot(0.5),
        modifiers=(twin.dense_bias(b), twin.soft_cap(2.0)),
        seen=twin.causal(T, T),
        normaliser=twin.sigmoid,
    )
    np.testing.assert_allclose(output, right.output, atol=1e-12)
    mask = np.random.default_rng(0).random((B, 1, T, T)) < 0.5
    np.testing.assert_allclose(cache.attend(q, mask=mask), _right(q, k, v, mask), atol=1e-12)


def test_rewind_truncate_and_clear() -> None:
    q, k, v = twin.arrays(4, *SHAPES)
    cache = _cache()
    cache.append(k, v)
    cache.rewind(5)
    assert len(cache) == 7
    np.testing.assert_allclose(cache.attend(q), _right(q, k[:, :, :7], v[:, :, :7]), atol=1e-12)
    cache.truncate(4)
    cache.append(k[:, :, 9:], v[:, :, 9:])
    kept = [0, 1, 2, 3, 9, 10, 11]
    np.testing.assert_array_equal(cache.keys, k[:, :, kept])
    np.testing.assert_allclose(cache.attend(q), _right(q, k[:, :, kept], v[:, :, kept]), atol=1e-12)
    held = cache.nbytes
    cache.clear()
    assert len(cache) == 0 and cache.nbytes == held
    assert (cache.attend(q) == 0).all() and cache.keys.shape == (B, G, 0, D)
    with pytest.raises(heed.Error):
        cache.rewind(1)


@pytest.mark.parametrize("order", [[1, 0], [0, 0], [1, 1, 0], [1], [0, 1, 0, 1]])
def test_reorder_for_a_beam(order: list[int]) -> None:
    q, k, v = twin.arrays(5, *SHAPES)
    cache = _cache()
    cache.append(k, v)
    cache.reorder(order)
    assert cache.batch == len(order)
    np.testing.assert_array_equal(cache.keys, k[order])
    expected = _right(q[order], k[order], v[order])
    np.testing.assert_allclose(cache.attend(q[order]), expected, atol=1e-12)
    cache.append(k[order][:, :, :2], v[order][:, :, :2])
    np.testing.assert_array_equal(cache.values, np.concatenate((v[order], v[order][:, :, :2]), 2))


def test_a_window_keeps_the_last() -> None:
    q, k, v = twin.arrays(6, *SHAPES)
    cache = _cache(window=4)
    for t in range(T):
        cache.append(k[:, :, t : t + 1], v[:, :, t : t + 1])
        first = max(0, t - 3)
        assert len(cache) == t + 1 - first and cache.first_position == first
        kept = slice(first, t + 1)
        np.testing.assert_array_equal(cache.keys, k[:, :, kept])
        now = q[:, :, t : t + 1]
        expected = _right(now, k[:, :, kept], v[:, :, kept])
        np.testing.assert_allclose(cache.attend(now), expected, atol=1e-12)


def test_a_clone_goes_its_own_way() -> None:
    _, k, v = twin.arrays(7, *SHAPES)
    cache = _cache()
    cache.append(k[:, :, :6], v[:, :, :6])
    other = cache.clone()
    cache.append(k[:, :, 6:8], v[:, :, 6:8])
    other.append(k[:, :, 9:], v[:, :, 9:])
    other.reorder([1, 0])
    np.testing.assert_array_equal(cache.keys, k[:, :, :8])
    np.testing.assert_array_equal(other.keys, k[[1, 0]][:, :, [*range(6), 9, 10, 11]])


def test_what_it_shows_and_takes_are_copies() -> None:
    _, k, v = twin.arrays(8, *SHAPES)
    given = k.copy()
    cache = _cache()
    cache.append(given, v)
    given[...] = 0
    shown = cache.keys
    shown[...] = 1
    np.testing.assert_array_equal(cache.keys, k)


def test_room_made_at_once_is_kept() -> None:
    _, k, v = twin.arrays(9, *SHAPES)
    cache = _cache(capacity=T)
    held = cache.nbytes
    for t in range(T):
        cache.append(k[:, :, t : t + 1], v[:, :, t : t + 1])
    assert cache.nbytes == held


def test_layouts_of_what_is_appended() -> None:
    q, k, v = twin.arrays(10, *SHAPES)
    cache = _cache()
    cache.append(np.asfortranarray(k), v[..., ::-1])
    np.testing.assert_allclose(cache.attend(q), _right(q, k, v[..., ::-1]), atol=1e-12)


@pytest.mark.parametrize(
    "wrong, error",
    [
        (lambda c, q, k, v: c.append(k[:1], v), heed.Error),
        (lambda c, q, k, v: c.append(k[..., :4], v), heed.Error),
        (lambda c, q, k, v: c.append(k, v[:, :, :3]), heed.Error),
        (lambda c, q, k, v: c.append(k[0], v[0]), heed.Error),
        (lambda c, q, k, v: c.append(k.astype(int), v), (heed.Error, TypeError)),
        (lambda c, q, k, v: c.append([1.0], v), TypeError),
        (lambda c, q, k, v: c.attend(q[:, :4]), heed.Error),
        (lambda c, q, k, v: c.attend(q[..., :4]), heed.Error),
        (lambda c, q, k, v: c.attend(np.concatenate((q, q[:1]))), heed.Error),
        (lambda c, q, k, v: c.attend(q.astype(int)), TypeError),
        (lambda c, q, k, v: c.rewind(-1), heed.Error),
        (lambda c, q, k, v: c.rewind(99), heed.Error),
        (lambda c, q, k, v: c.truncate(99), heed.Error),
        (lambda c, q, k, v: c.reorder([0, 2]), heed.Error),
        (lambda c, q, k, v: c.reorder([-1]), heed.Error),
        (lambda c, q, k, v: heed.KVCache(heads=0, features=4), heed.Error),
        (lambda c, q, k, v: heed.KVCache(heads=1, features=4, dtype="f16"), heed.Error),
        (lambda c, q, k, v: heed.KVCache(heads=1, features=4, window=0), heed.Error),
        (lambda c, q, k, v: heed.KVCache(heads=1, features=4, capacity=-1), heed.Error),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(wrong: Any, error: Any) -> None:
    q, k, v = twin.arrays(11, *SHAPES)
    cache = _cache()
    cache.append(k, v)
    with pytest.raises(error):
        wrong(cache, q, k, v)
    np.testing.assert_array_equal(cache.keys, k)
    np.testing.assert_array_equal(cache.values, v)


MISTAKES_BESIDE_CHANGES = """
import threading, time, heed, numpy as np
cache = heed.KVCache(heads=2, features=8)
k = np.ones((1, 2, 3, 8), np.float32)
cache.append(k, k)
end = time.monotonic() + 1.0

def mistake():
    q = np.ones((1, 3, 1, 8), np.float32)  # three heads on two
    while time.monotonic() < end:
        try:
            cache.attend(q)
        except heed.Error:
            pass

def change():
    while time.monotonic() < end:
        cache.append(k, k)
        cache.rewind(3)

threads = [threading.Thread(target=f) for f in (mistake, change, mistake, change)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_an_error_while_others_change_the_cache_leaves_nobody_waiting():
    subprocess.run([sys.executable, "-c", MISTAKES_BESIDE_CHANGES], check=True, timeout=60)
