"""Attention in plain NumPy and double precision, stage by stage: what tests compare heed with.

Every stage of heed's has a function of the same name here. Nothing is fused, blocked or skipped.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import numpy as np

Array = np.ndarray


def arrays(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float64) -> list[Array]:
    """Normal numbers, those of a seed always the same."""
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


class Result(NamedTuple):
    output: Array
    weights: Array
    lse: Array
    raw: Array
    modified: Array
    masked: Array


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    score: Callable[..., Array] | None = None,
    modifiers: tuple[Callable[..., Array], ...] = (),
    bias: Array | float = 0.0,
    seen: Array | bool = True,
    normaliser: Callable[..., Array] | None = None,
    reweight: tuple[Callable[..., Array], ...] = (),
    relative_values: Array | None = None,
) -> Result:
    """Attention of q [..., H, Tq, D] to k and v; a modifier is a function of (scores, q).

    ``bias`` is a mask of floats, ``relative_values`` [..., Tq, Tk, Dv] is added to values.
    """
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    raw = (score or scaled_dot())(q, k)
    modified = raw
    for modify in modifiers:
        modified = modify(modified, q)
    masked = np.where(seen, modified + bias, -np.inf)
    weights = (normaliser or softmax)(masked)
    read = weights
    for change in reweight:
        read = change(read)
    output = read @ v
    if relative_values is not None:
        output = output + np.einsum("...ij,...ijd->...id", read, relative_values)
    shape = output.shape[:-1] + (k.shape[-2],)
    pairs = (np.broadcast_to(x, shape) for x in (weights, raw, modified, masked))
    weights, raw, modified, masked = pairs
    return Result(output, weights, _log_sum_exp(masked, weights), raw, modified, masked)


def _log_sum_exp(masked: Array, weights: Array) -> Array:
    """Of softmax and its kin: a weight is e^score divided by the row's sum."""
    if masked.shape[-1] == 0:
        return np.full(masked.shape[:-1], -np.inf)
    best = weights.argmax(-1)[..., None]
    weight = np.take_along_axis(weights, best, -1)[..., 0]
    score = np.take_along_axis(masked, best, -1)[..., 0]
    return np.where(weight > 0, score - np.log(np.where(weight > 0, weight, 1.0)), -np.inf)


def repeat_heads(x: Array, heads: int) -> Array:
    """Keys or values of grouped queries, one head for each of the queries'."""
    return np.repeat(x, heads // x.shape[-3], -3)


# ---- scores --------------------------------------------------------------------------------------


def dot() -> Callable[..., Array]:
    return lambda q, k: q @ np.swapaxes(k, -1, -2)


def scaled_dot(scale: float | None = None) -> Callable[..., Array]:
    return lambda q, k: dot()(q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)


def general_score(weight: Array) -> Callable[..., Array]:
    return lambda q, k: q @ weight @ np.swapaxes(k, -1, -2)


def additive_score(weights: Array) -> Callable[..., Array]:
    def score(q: Array, k: Array) -> Array:
        w = weights if weights.ndim == 1 else weights[:, None, None, :]
        return (w * np.tanh(q[..., :, None, :] + k[..., None, :, :])).sum(-1)

    return score


def cosine_score(scale: Array | float = 1.0) -> Callable[..., Array]:
    def direction(x: Array) -> Array:
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return lambda q, k: per_head(scale) * dot()(direction(q), direction(k))


# ---- modifiers -----------------------------------------------------------------------------------


def per_head(x: Array | float) -> Array:
    """A number, or one for each head, to go with scores."""
    return np.asarray(x) if np.ndim(x) == 0 else np.reshape(x, (-1, 1, 1))


def shift(corner: str | int, queries: int, keys: int) -> int:
    """The key at which the first query stands."""
    return {"top_left": 0, "bottom_right": keys - queries}.get(corner, corner)  # type: ignore


def distances(queries: int, keys: int, corner: str | int = "top_left") -> Array:
    """i - j, for all queries and keys."""
    first = shift(corner, queries, keys)
    return np.arange(queries)[:, None] + first - np.arange(keys)


def _of_scores(s: Array, corner: str | int) -> Array:
    return distances(s.shape[-2], s.shape[-1], corner)


def dense_bias(array: Array) -> Callable[..., Array]:
    return lambda s, q: s + array


def soft_cap(cap: float) -> Callable[..., Array]:
    return lambda s, q: cap * np.tanh(s / cap)


def temperature(value: Array | float) -> Callable[..., Array]:
    return lambda s, q: s / per_head(value)


def alibi_slopes(heads: int) -> Array:
    """Of a power of two: 2^(-8/n), and its powers; of others: those below, every second above."""
    below = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    above = [2 ** (-8 * (i + 1) / (2 * below)) for i in range(2 * below)]
    return np.array(slopes + above[0::2][: heads - below])


def alibi(slopes: Array, corner: str | int = "top_left") -> Callable[..., Array]:
    return lambda s, q: s - per_head(slopes) * np.abs(_of_scores(s, corner))


def distance_bias(table: Array, zero: int, corner: str | int = "top_left") -> Callable[..., Array]:
    return lambda s, q: s + table[..., _of_scores(s, corner) + zero]


def t5_bucket(distance: int, buckets: int, bidirectional: bool, max_distance: int) -> int:
    """Of a key at j - i = distance."""
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    far = math.log(distance / exact) / math.log(max_distance / exact) * (buckets - exact)
    return first + min(exact + int(far + 1e-6), buckets - 1)


def t5_bias(
    table: Array,
    bidirectional: bool = True,
    max_distance: int = 128,
    corner: str | int = "top_left",
) -> Callable[..., Array]:
    def modify(s: Array, q: Array) -> Array:
        bucket = np.vectorize(
            lambda d: t5_bucket(-d, table.shape[0], bidirectional, max_distance), otypes=[int]
        )
        return s + np.moveaxis(table[bucket(_of_scores(s, corner))], -1, 0)

    return modify


def shaw_rows(table: Array, queries: int, keys: int, corner: str | int = "top_left") -> Array:
    """The rows of a table [..., 2c + 1, D] by clipped distance j - i, [..., Tq, Tk, D]."""
    c = table.shape[-2] // 2
    return table[..., np.clip(-distances(queries, keys, corner), -c, c) + c, :]


def circular_rows(table: Array, queries: int, keys: int, corner: str | int = "top_left") -> Array:
    """The rows of a table [..., n, D] by distance (j - i) mod n, [..., Tq, Tk, D]."""
    return table[..., -distances(queries, keys, corner) % table.shape[-2], :]


def shaw_keys(
    table: Array, scale: float, corner: str | int = "top_left", rows_of: Callable[..., Array] = shaw_rows
) -> Callable[..., Array]:
    def modify(s: Array, q: Array) -> Array:
        rows = rows_of(table, s.shape[-2], s.shape[-1], corner)
        return s + scale * np.einsum("...id,...ijd->...ij", q, rows)

    return modify


def gaussian(centres: Array, deviation: float) -> Callable[..., Array]:
    def change(w: Array) -> Array:
        away = np.arange(w.shape[-1]) - centres[..., None]
        return w * np.exp(-(away**2) / (2 * deviation**2))

    return change


# ---- normalisers ---------------------------------------------------------------------------------


def softmax(s: Array) -> Array:
    return softmax_with_sink(-np.inf)(s)


def softmax_with_sink(sinks: Array | float) -> Callable[..., Array]:
    def normalise(s: Array) -> Array:
        sink = np.broadcast_to(per_head(sinks), s.shape[:-1] + (1,))
        top = np.maximum(s.max(-1, keepdims=True, initial=-np.inf), sink)
        top = np.where(np.isneginf(top), 0.0, top)
        e = np.exp(s - top)
        total = e.sum(-1, keepdims=True) + np.exp(sink - top)
        return e / np.where(total == 0, 1.0, total)

    return normalise


def top_k_weights(k: int) -> Callable[..., Array]:
    def normalise(s: Array) -> Array:
        rank = np.argsort(np.argsort(-s, -1, kind="stable"), -1, kind="stable")
        return softmax(np.where(rank < k, s, -np.inf))

    return normalise


def entmax(alpha: float) -> Callable[..., Array]:
    def normalise(s: Array) -> Array:
        top = s.max(-1, keepdims=True, initial=-np.inf)
        x = (alpha - 1) * np.where(np.isneginf(s), -np.inf, s - np.where(np.isneginf(top), 0.0, top))
        low, high = np.zeros(top.shape), np.ones(top.shape)
        for _ in range(80):
            middle = (low + high) / 2
            small = (np.maximum(x + middle, 0.0) ** (1 / (alpha - 1))).sum(-1, keepdims=True) < 1
            low, high = np.where(small, middle, low), np.where(small, high, middle)
        return np.maximum(x + high, 0.0) ** (1 / (alpha - 1))

    return normalise


def sigmoid(s: Array) -> Array:
    return np.where(np.isneginf(s), 0.0, 1 / (1 + np.exp(-s)))


def none(s: Array) -> Array:
    return np.where(np.isneginf(s), 0.0, s)


# ---- masks: true where a query may attend to a key -----------------------------------------------


def window(
    left: int | None, right: int | None, queries: int, keys: int, corner: str | int = "top_left"
) -> Array:
    d = distances(queries, keys, corner)
    return (d <= (math.inf if left is None else left)) & (
        -d <= (math.inf if right is None else right)
    )


def causal(queries: int, keys: int, corner: str | int = "top_left") -> Array:
    return window(None, 0, queries, keys, corner)


def dilated_window(
    reach: tuple[int, int, int], queries: int, keys: int, corner: str | int = "top_left"
) -> Array:
    left, right, step = reach
    n = -distances(queries, keys, corner)
    return (n % step == 0) & (n >= -left * step) & (n <= right * step)


def global_positions(
    positions: list[int], queries: int, keys: int, corner: str | int = "top_left"
) -> Array:
    rows = np.isin(np.arange(queries) + shift(corner, queries, keys), positions)
    return rows[:, None] | np.isin(np.arange(keys), positions)


def window_around(centres: Array, reach: float, keys: int) -> Array:
    return np.abs(np.arange(keys) - centres[..., None]) <= reach


def row_intervals(first: Array, last: Array, keys: int) -> Array:
    j = np.arange(keys)
    return (first[..., None] <= j) & (j < last[..., None])


def block_list(size: int, pairs: list[tuple[int, int]], queries: int, keys: int) -> Array:
    visible = np.zeros((queries, keys), bool)
    for q, k in pairs:
        visible[q * size : (q + 1) * size, k * size : (k + 1) * size] = True
    return visible


def block_pattern(
    rule: tuple[int, int, int, str], queries: int, keys: int, corner: str | int = "top_left"
) -> Array:
    size, local, every, far = rule
    q = ((np.arange(queries) + shift(corner, queries, keys)) // size)[:, None]
    k = np.arange(keys) // size
    near = np.abs(k - q) <= local
    if every == 0:
        return near
    return near | ((k - q) % every == 0 if far == "strided" else k % every == every - 1)


def key_lengths(values: Any, keys: int) -> Array:
    return np.arange(keys) < np.reshape(values, (-1, 1, 1, 1))


def segments(ids: Any, key_ids: Any = None) -> Array:
    key_ids = ids if key_ids is None else key_ids
    return np.asarray(ids)[:, None, :, None] == np.asarray(key_ids)[:, None, None, :]
