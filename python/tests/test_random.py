"""What is drawn: dropout and hard attention, by seed; and PyTorch's signature for any library."""

from __future__ import annotations

import numpy as np
import pytest
import twin

import heed

SHAPE = (2, 4, 40, 16)


def _kept(p: float, seed: int) -> np.ndarray:
    """Which weights survive: with values that are the unit vectors, the output is the weights."""
    q, k = twin.arrays(1, (2, 4, 100, 8), (2, 4, 120, 8))
    output = heed.attention(q, k, np.eye(120), dropout=p, seed=seed)
    weights = twin.attention(q, k, np.eye(120)).weights
    rounded = round(p * 2**16) / 2**16
    right = weights[output != 0] / (1 - rounded)
    np.testing.assert_allclose(output[output != 0], right, rtol=1e-9)
    return output != 0


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_rate_is_right(p: float) -> None:
    kept = _kept(p, 3)
    spread = (p * (1 - p) / kept.size) ** 0.5
    assert abs(kept.mean() - (1 - p)) < 5 * spread
    # Neither rows, columns nor heads have a rate of their own.
    for axes in [(0, 1, 2), (0, 1, 3), (2, 3)]:
        n = kept.size / np.prod([kept.shape[i] for i in range(4) if i not in axes])
        assert np.abs(kept.mean(axes) - (1 - p)).max() < 6 * (p * (1 - p) / n) ** 0.5


def test_seeds_are_independent() -> None:
    a, b = _kept(0.5, 1), _kept(0.5, 2)
    assert abs((a == b).mean() - 0.5) < 0.01
    np.testing.assert_array_equal(a, _kept(0.5, 1))


def test_a_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    q, k, v = twin.arrays(2, SHAPE, SHAPE, SHAPE, dtype=np.float32)
    before = heed.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 5):
            heed.set_num_threads(threads)
            assert heed.get_num_threads() == threads
            results.append(heed.attention(q, k, v, dropout=0.3, seed=2**63 + 1))
            results.append(heed.attention(q, k, v, normaliser=heed.hard_weights(9)))
        for i in (2, 4):
            np.testing.assert_array_equal(results[i], results[0])
            np.testing.assert_array_equal(results[i + 1], results[1])
    finally:
        heed.set_num_threads(before)


def test_without_a_seed_every_call_draws_anew_and_manual_seed_repeats() -> None:
    q, k, v = twin.arrays(3, SHAPE, SHAPE, SHAPE)

    def draws() -> list[np.ndarray]:
        return [
            heed.attention(q, k, v, dropout=0.5),
            heed.attention(q, k, v, dropout=0.5),
            heed.attention(q, k, v, normaliser=heed.hard_weights()),
        ]

    heed.manual_seed(7)
    first = draws()
    assert (first[0] != first[1]).any()
    others = draws()
    assert (others[0] != first[0]).any() and (others[2] != first[2]).any()
    heed.manual_seed(7)
    for a, b in zip(draws(), first):
        np.testing.assert_array_equal(a, b)


def test_no_dropout_is_none() -> None:
    q, k, v = twin.arrays(4, SHAPE, SHAPE, SHAPE)
    plain = heed.attention(q, k, v)
    np.testing.assert_array_equal(heed.attention(q, k, v, dropout=0.0, seed=1), plain)
    for p in (-0.1, 1.0, 1.5, float("nan")):
        with pytest.raises(heed.Error, match="probability"):
            heed.attention(q, k, v, dropout=p)


def test_hard_attention_takes_one_key_as_often_as_softmax_says() -> None:
    q, k = twin.arrays(5, (1, 1, 1, 8), (1, 1, 5, 8))
    q = np.broadcast_to(q, (1, 1, 20000, 8))
    _, weights = heed.attention(q, k, k, normaliser=heed.hard_weights(1), return_weights=True)
    one = weights > 0.5
    assert (one.sum(-1) == 1).all() and abs(weights - one).max() < 1e-15  # p / p by 1 / p is rounded
    expected = twin.attention(q[:, :, :1], k, k).weights[0, 0, 0]
    np.testing.assert_allclose(weights.mean(2)[0, 0], expected, atol=0.02)


# ---- scaled_dot_product_attention ----------------------------------------------------------------


def test_pytorchs_signature() -> None:
    q, k, v = twin.arrays(6, (2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6))
    wide_k, wide_v = twin.repeat_heads(k, 4), twin.repeat_heads(v, 4)
    numbers = twin.arrays(7, (2, 1, 5, 7))[0]
    sdpa = heed.scaled_dot_product_attention
    for ours, theirs in [
        (sdpa(q, wide_k, wide_v), {}),
        (sdpa(q, wide_k, wide_v, None, 0.0, True), {"seen": twin.causal(5, 7)}),
        (sdpa(q, wide_k, wide_v, numbers > 0), {"seen": numbers > 0}),
        (sdpa(q, wide_k, wide_v, attn_mask=numbers), {"bias": numbers}),
        (sdpa(q, wide_k, wide_v, scale=0.1), {"score": twin.scaled_dot(0.1)}),
        (sdpa(q, k, v, enable_gqa=True), {}),
    ]:
        right = twin.attention(q, wide_k, wide_v, **theirs).output
        np.testing.assert_allclose(ours, right, atol=1e-12)


def test_pytorchs_dropout() -> None:
    q, k, v = twin.arrays(8, SHAPE, SHAPE, SHAPE)
    sdpa = heed.scaled_dot_product_attention
    nothing = sdpa(q, k, v, dropout_p=1.0)
    assert nothing.shape == q.shape and (nothing == 0).all()
    heed.manual_seed(3)
    dropped = sdpa(q, k, v, dropout_p=0.5, is_causal=True)
    heed.manual_seed(3)
    np.testing.assert_array_equal(dropped, heed.attention(q, k, v, dropout=0.5, mask=heed.causal()))
    for p in (-0.1, 1.1):
        with pytest.raises(heed.Error, match="from 0 to 1"):
            sdpa(q, k, v, dropout_p=p)
    with pytest.raises(heed.Error, match="is_causal"):
        sdpa(q, k, v, np.ones((40, 40), bool), is_causal=True)
    with pytest.raises(TypeError):
        sdpa(q, k, v, np.ones((40, 40), int))
