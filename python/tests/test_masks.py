"""Masks against their twins: each kind, composed by & and |, in every rank and layout."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import numpy as np
import pytest
import twin

import heed

B, H = 2, 3
LENGTHS = [(5, 7), (7, 5), (1, 9), (70, 150), (150, 70), (0, 4), (4, 0)]
CORNERS = ["top_left", "bottom_right", 2, -2]


def _random_bools(queries: int, keys: int) -> np.ndarray:
    return np.random.default_rng(3).random((B, H, queries, keys)) < 0.5


def _ids(n: int) -> np.ndarray:
    """Documents one after another."""
    return np.sort(np.random.default_rng(n).integers(0, 4, (B, n)), -1)


def _centres(queries: int, keys: int) -> np.ndarray:
    return np.random.default_rng(4).random((B, H, queries)) * keys


def _intervals(queries: int, keys: int) -> np.ndarray:
    """First and last, of which some are empty and some extend beyond the keys."""
    return np.random.default_rng(5).integers(-2, keys + 3, (2, B, H, queries))


def _blocks(queries: int, keys: int, size: int) -> list[tuple[int, int]]:
    every = np.random.default_rng(6).random((-(-queries // size), -(-keys // size))) < 0.4
    return [(int(q), int(k)) for q, k in np.argwhere(every)]


def _stripes(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i + 2 * j + b) % (h + 2) == 0


# Makers of (mask, twin) for so many queries and keys at a corner.
MASKS: dict[str, Callable[..., tuple[Any, np.ndarray]]] = {
    "causal": lambda n, m, c: (heed.causal(c), twin.causal(n, m, c)),
    "prefix_causal": lambda n, m, c: (
        heed.prefix_causal([m // 2, 0], c),
        twin.causal(n, m, c) | twin.key_lengths([m // 2, 0], m),
    ),
    "window": lambda n, m, c: (heed.window(2, 1, c), twin.window(2, 1, n, m, c)),
    "window-left": lambda n, m, c: (heed.window(3, None, c), twin.window(3, None, n, m, c)),
    "window-right": lambda n, m, c: (heed.window(None, 2, c), twin.window(None, 2, n, m, c)),
    "window-all": lambda n, m, c: (heed.window(None, None, c), np.ones((n, m), bool)),
    "window-own": lambda n, m, c: (heed.window(0, 0, c), twin.window(0, 0, n, m, c)),
    "dilated": lambda n, m, c: (
        heed.dilated_window(2, 1, 3, c),
        twin.dilated_window((2, 1, 3), n, m, c),
    ),
    "global": lambda n, m, c: (
        heed.global_positions([0, 3], c),
        twin.global_positions([0, 3], n, m, c),
    ),
    "window_around": lambda n, m, c: (
        heed.window_around(_centres(n, m), 2.5),
        twin.window_around(_centres(n, m), 2.5, m),
    ),
    "window_around-shared": lambda n, m, c: (
        heed.window_around(_centres(n, m)[:1, :1].astype(np.float32), 3),
        twin.window_around(_centres(n, m)[:1, :1].astype(np.float32), 3, m),
    ),
    "key_range": lambda n, m, c: (
        heed.key_range(2, m - 1),
        np.broadcast_to((np.arange(m) >= 2) & (np.arange(m) < m - 1), (n, m)),
    ),
    "row_intervals": lambda n, m, c: (
        heed.row_intervals(*_intervals(n, m)),
        twin.row_intervals(*_intervals(n, m), m),
    ),
    "block_list": lambda n, m, c: (
        heed.block_list(4, _blocks(n, m, 4)),
        twin.block_list(4, _blocks(n, m, 4), n, m),
    ),
    "block_list-of-heads": lambda n, m, c: (
        heed.block_list(3, [_blocks(n, m, 3), [], _blocks(n, m, 3)[::2]]),
        np.stack(
            [twin.block_list(3, x, n, m) for x in (_blocks(n, m, 3), [], _blocks(n, m, 3)[::2])]
        ),
    ),
    "block_pattern": lambda n, m, c: (
        heed.block_pattern(3, 1, 3, corner=c),
        twin.block_pattern((3, 1, 3, "fixed"), n, m, c),
    ),
    "block_pattern-strided": lambda n, m, c: (
        heed.block_pattern(size=2, local=0, every=4, far="strided", corner=c),
        twin.block_pattern((2, 0, 4, "strided"), n, m, c),
    ),
    "block_pattern-near": lambda n, m, c: (
        heed.block_pattern(4, 1, 0, corner=c),
        twin.block_pattern((4, 1, 0, "fixed"), n, m, c),
    ),
    "mask_fn": lambda n, m, c: (
        heed.mask_fn(_stripes),
        _stripes(*np.ogrid[:B, :H, :n, :m]),
    ),
    "mask_fn-of-keys": lambda n, m, c: (
        heed.mask_fn(lambda b, h, i, j: j % 3 > 0),
        np.broadcast_to(np.arange(m) % 3 > 0, (n, m)),
    ),
    "lengths": lambda n, m, c: (heed.key_lengths([m // 2, m]), twin.key_lengths([m // 2, m], m)),
    "lengths-0": lambda n, m, c: (
        heed.key_lengths(np.array([0, m], np.int32)),
        twin.key_lengths([0, m], m),
    ),
    "segments": lambda n, m, c: (
        heed.segments(_ids(n), _ids(m)),
        twin.segments(_ids(n), _ids(m)),
    ),
    "boolean": lambda n, m, c: (heed.boolean_mask(_random_bools(n, m)), _random_bools(n, m)),
    "boolean-of-heads": lambda n, m, c: (
        heed.boolean_mask(_random_bools(n, m)[0]),
        _random_bools(n, m)[0],
    ),
    "boolean-of-keys": lambda n, m, c: (
        heed.boolean_mask(np.arange(m) % 3 > 0),
        np.broadcast_to(np.arange(m) % 3 > 0, (n, m)),
    ),
}


def _check(mask: Any, seen: np.ndarray, queries: int, keys: int) -> None:
    """Outputs, weights and scores; what is hidden is NaN, and changes nothing."""
    q, k, v = twin.arrays(1, (B, H, queries, 8), (B, H, keys, 8), (B, H, keys, 6))
    right = twin.attention(q, k, v, seen=seen)
    everywhere = np.broadcast_to(seen, (B, H, queries, keys))
    never = ~everywhere.any(-2)
    hidden_k, hidden_v = k.copy(), v.copy()
    hidden_k[never], hidden_v[never] = np.nan, np.nan
    output, weights, lse, masked = heed.attention(
        q,
        hidden_k,
        hidden_v,
        mask=mask,
        return_weights=True,
        return_lse=True,
        return_scores="masked",
    )
    np.testing.assert_allclose(output, right.output, atol=1e-11)
    np.testing.assert_allclose(weights, right.weights, atol=1e-11)
    np.testing.assert_allclose(lse, right.lse, atol=1e-11)
    np.testing.assert_allclose(masked, right.masked, atol=1e-11)
    empty = ~everywhere.any(-1)
    assert (output[empty] == 0).all() and (weights[empty] == 0).all()
    assert np.isneginf(lse[empty]).all()
    _, raw = heed.attention(q, k, v, mask=mask, return_scores="raw")
    np.testing.assert_allclose(raw, right.raw, atol=1e-11)  # of hidden keys too


def test_every_listed_mask_is_a_function_and_tested_here() -> None:
    listed = {mask["name"] for mask in heed.masks()}
    assert len(listed) == len(heed.masks())
    assert all(callable(getattr(heed, name)) for name in listed)
    assert listed <= set(heed.__all__)
    covered = {repr(make(4, 4, 0)[0]) for make in MASKS.values()}
    assert covered == {f"heed.Mask({name})" for name in listed}


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("name", MASKS)
def test_mask_is_its_twin(name: str, lengths: tuple[int, int], corner: Any) -> None:
    mask, seen = MASKS[name](*lengths, corner)
    _check(mask, seen, *lengths)


@pytest.mark.parametrize("second", MASKS)
@pytest.mark.parametrize("first", MASKS)
def test_masks_compose(first: str, second: str) -> None:
    for queries, keys in [(9, 12), (70, 66)]:
        a, seen_a = MASKS[first](queries, keys, "bottom_right")
        b, seen_b = MASKS[second](queries, keys, "top_left")
        _check(a & b, seen_a & seen_b, queries, keys)
        _check(a | b, seen_a | seen_b, queries, keys)
        both = (a | heed.key_lengths([3, 5])) & (b | heed.window(1, 1))
        padded, near = twin.key_lengths([3, 5], keys), twin.window(1, 1, queries, keys)
        _check(both, (seen_a | padded) & (seen_b | near), queries, keys)


def test_segments_serve_queries_and_keys_alike() -> None:
    ids = np.random.default_rng(8).integers(0, 3, (B, 11))  # in no order
    _check(heed.segments(ids), twin.segments(ids), 11, 11)


def test_mask_fn_is_called_once_a_pass_with_arrays_of_indices() -> None:
    shapes = []

    def near(b: Any, h: Any, i: Any, j: Any) -> Any:
        shapes.append((b.shape, h.shape, i.shape, j.shape))
        return abs(i - j) <= 1

    q, k, v = twin.arrays(9, (B, H, 5, 8), (B, H, 7, 8), (B, H, 7, 8))
    mask = heed.mask_fn(near) & heed.causal()
    seen = twin.window(1, 0, 5, 7)
    right = twin.attention(q, k, v, seen=seen)
    np.testing.assert_allclose(heed.attention(q, k, v, mask=mask), right.output, atol=1e-12)
    assert shapes == [((B, 1, 1, 1), (H, 1, 1), (5, 1), (7,))]
    d = heed.backward(np.ones_like(right.output), q, k, v, mask=mask)
    d_right = heed.backward(np.ones_like(right.output), q, k, v, mask=seen)
    np.testing.assert_allclose(d.q, d_right.q, atol=1e-12)
    np.testing.assert_allclose(d.k, d_right.k, atol=1e-12)


def test_mask_fn_passes_on_what_its_function_raises() -> None:
    q, k, v = twin.arrays(10, (1, 1, 4, 8), (1, 1, 6, 8), (1, 1, 6, 8))

    def fails(b: Any, h: Any, i: Any, j: Any) -> Any:
        raise KeyError("no such key")

    with pytest.raises(KeyError, match="no such key"):
        heed.attention(q, k, v, mask=heed.mask_fn(fails))
    with pytest.raises(TypeError, match="bool"):
        heed.attention(q, k, v, mask=heed.mask_fn(lambda b, h, i, j: i - j))
    with pytest.raises(heed.Error, match="broadcast"):
        heed.attention(q, k, v, mask=heed.mask_fn(lambda b, h, i, j: np.ones(5, bool)))
    everything = heed.attention(q, k, v, mask=heed.mask_fn(lambda b, h, i, j: True))
    np.testing.assert_array_equal(everything, heed.attention(q, k, v))


def test_mask_fn_in_several_threads() -> None:
    q, k, v = twin.arrays(11, (B, H, 40, 8), (B, H, 40, 8), (B, H, 40, 8))
    right = heed.attention(q, k, v, mask=heed.causal())

    def call(_: int) -> bool:
        mask = heed.mask_fn(lambda b, h, i, j: j <= i)
        return np.array_equal(heed.attention(q, k, v, mask=mask), right)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(40)))


def test_lengths_by_end_symbol() -> None:
    ids = np.array([[5, 2, 7, 2], [5, 6, 7, 8], [2, 5, 5, 5]])
    np.testing.assert_array_equal(heed.lengths_by_end_symbol(ids, 2), [2, 4, 1])
    np.testing.assert_array_equal(heed.lengths_by_end_symbol(ids, 2, end_is_padding=True), [1, 4, 0])
    q, k, v = twin.arrays(12, (3, 1, 4, 8), (3, 1, 4, 8), (3, 1, 4, 8))
    mask = heed.key_lengths(heed.lengths_by_end_symbol(ids.astype(np.int32), 2))
    right = twin.attention(q, k, v, seen=twin.key_lengths([2, 4, 1], 4))
    np.testing.assert_allclose(heed.attention(q, k, v, mask=mask), right.output, atol=1e-12)


@pytest.mark.parametrize("axes", range(5))
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_an_array_as_mask_broadcasts_from_the_right(kind: str, axes: int) -> None:
    q, k, v = twin.arrays(2, (B, H, 5, 8), (B, H, 7, 8), (B, H, 7, 8))
    full = (B, H, 5, 7)[4 - axes :]
    for ones in range(2**axes):
        shape = tuple(1 if ones >> i & 1 else n for i, n in enumerate(full))
        numbers = np.random.default_rng(ones).standard_normal(shape)
        if kind == "bool":
            right = twin.attention(q, k, v, seen=numbers > 0)
            output = heed.attention(q, k, v, mask=np.asarray(numbers > 0))
        else:
            right = twin.attention(q, k, v, bias=numbers)
            output = heed.attention(q, k, v, mask=np.asarray(numbers))
        np.testing.assert_allclose(output, right.output, atol=1e-12, err_msg=str(shape))


def test_infinite_biases_hide() -> None:
    q, k, v = twin.arrays(3, (1, 1, 4, 8), (1, 1, 6, 8), (1, 1, 6, 8))
    seen = np.random.default_rng(0).random((4, 6)) < 0.5
    seen[1] = False
    bias = np.where(seen, 0.5, -np.inf)
    output, weights = heed.attention(q, k, v, mask=bias, return_weights=True)
    right = twin.attention(q, k, v, seen=seen)
    np.testing.assert_allclose(output, right.output, atol=1e-12)
    np.testing.assert_allclose(weights, right.weights, atol=1e-12)
    assert (output[0, 0, 1] == 0).all()


def test_any_byte_but_0_is_true() -> None:
    q, k, v = twin.arrays(4, (1, 2, 9, 8), (1, 2, 70, 8), (1, 2, 70, 8))
    seen = np.random.default_rng(0).random((9, 70)) < 0.5
    odd = (seen * np.uint8(2)).view(bool)
    np.testing.assert_array_equal(
        heed.attention(q, k, v, mask=odd), heed.attention(q, k, v, mask=seen)
    )


def test_boolean_masks_in_any_layout() -> None:
    q, k, v = twin.arrays(5, (B, H, 9, 8), (B, H, 33, 8), (B, H, 33, 8))
    big = np.random.default_rng(0).random((B, H, 33, 18)) < 0.5
    for seen in (big[..., :9].swapaxes(2, 3), big[:, :, ::-1, ::2].swapaxes(2, 3)):
        for mask in (seen, heed.boolean_mask(seen)):
            output = heed.attention(q, k, v, mask=mask)
            np.testing.assert_allclose(
                output, twin.attention(q, k, v, seen=seen).output, atol=1e-12
            )


def test_a_mask_keeps_its_array() -> None:
    q, k, v = twin.arrays(6, (1, 1, 4, 8), (1, 1, 6, 8), (1, 1, 6, 8))
    mask = heed.boolean_mask(np.tri(4, 6, dtype=bool)) & heed.key_lengths(np.array([5]))
    rubbish = [np.zeros(24, bool) for _ in range(100)]
    right = twin.attention(q, k, v, seen=np.tri(4, 6, dtype=bool) & (np.arange(6) < 5))
    np.testing.assert_allclose(heed.attention(q, k, v, mask=mask), right.output, atol=1e-12)
    assert len(rubbish) == 100 and repr(mask).startswith("heed.Mask(")


@pytest.mark.parametrize(
    "wrong, error",
    [
        (lambda: heed.key_lengths([1, 7]), heed.Error),
        (lambda: heed.key_lengths([-1, 2]), heed.Error),
        (lambda: heed.key_lengths([1, 2, 3]), heed.Error),
        (lambda: heed.key_lengths(np.ones((2, 1), int)), heed.Error),
        (lambda: heed.key_lengths([1.5, 2]), TypeError),
        (lambda: heed.key_lengths(np.ones(2)), TypeError),
        (lambda: heed.key_lengths("12"), TypeError),
        (lambda: heed.segments(np.zeros((2, 4), int)), heed.Error),
        (lambda: heed.segments(np.zeros(4, int)), heed.Error),
        (lambda: heed.window(-1, 0), heed.Error),
        (lambda: heed.dilated_window(1, 1, 0), heed.Error),
        (lambda: heed.window_around(np.ones((4, 6)), 1.0), heed.Error),
        (lambda: heed.window_around(np.ones((2, 3, 5)), 1.0), heed.Error),
        (lambda: heed.window_around(np.ones((2, 3, 4)), -1.0), heed.Error),
        (lambda: heed.window_around(np.ones((2, 3, 4), int), 1.0), TypeError),
        (lambda: heed.row_intervals(np.zeros((2, 3, 4), int), np.ones((2, 3, 5), int)), heed.Error),
        (lambda: heed.row_intervals(np.zeros((1, 3, 4), int), np.ones((1, 3, 4), int)), heed.Error),
        (lambda: heed.row_intervals(np.zeros((2, 3, 4)), np.ones((2, 3, 4))), TypeError),
        (lambda: heed.block_list(0, [(0, 0)]), heed.Error),
        (lambda: heed.block_list(4, [(0, 2)]), heed.Error),
        (lambda: heed.block_list(4, [[(0, 0)], []]), heed.Error),
        (lambda: heed.block_list(4, [(0, 0, 0)]), TypeError),
        (lambda: heed.block_list(4, 7), TypeError),
        (lambda: heed.block_pattern(0), heed.Error),
        (lambda: heed.block_pattern(far="near"), heed.Error),
        (lambda: heed.mask_fn(3), TypeError),
        (lambda: heed.mask_fn(lambda i, j: i >= j), TypeError),
        (lambda: heed.boolean_mask(np.ones((4, 6))), TypeError),
        (lambda: heed.boolean_mask(np.ones((3, 4, 5), bool)), heed.Error),
        (lambda: np.ones((3, 5), bool), heed.Error),
        (lambda: np.ones((1, 1, 1, 4, 6), bool), heed.Error),
        (lambda: np.ones((3, 5)), heed.Error),
        (lambda: np.ones((4, 6), int), TypeError),
        (lambda: np.ones((4, 6), np.uint8), TypeError),
        (lambda: "causal", TypeError),
        (lambda: True, TypeError),
        (lambda: [[True]], TypeError),
        (lambda: heed.causal() & np.ones((4, 6), bool), TypeError),
    ],
)
def test_what_is_no_mask_is_refused(wrong: Callable[[], Any], error: type[Exception]) -> None:
    q, k, v = twin.arrays(7, (B, H, 4, 8), (B, H, 6, 8), (B, H, 6, 8))
    with pytest.raises(error):
        heed.attention(q, k, v, mask=wrong())
