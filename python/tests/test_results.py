"""What comes back: out, weights, log-sum-exp, scores of every stage, past and present."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
import twin

import heed

SHAPES = (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6)
RESULT = (2, 3, 5, 6)


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("present", [False, True])
@pytest.mark.parametrize("scores", [None, "raw", "modified", "masked"])
@pytest.mark.parametrize("lse", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_results_in_all_combinations(
    weights: bool, lse: bool, scores: str | None, present: bool, out: bool
) -> None:
    q, k, v, b, m = twin.arrays(1, *SHAPES, (5, 7), (2, 1, 5, 7))
    right = twin.attention(q, k, v, modifiers=(twin.soft_cap(1.0), twin.dense_bias(b)), bias=m)
    expected = [right.output]
    expected += [right.weights] if weights else []
    expected += [right.lse] if lse else []
    expected += [getattr(right, scores)] if scores else []
    expected += [k, v] if present else []
    given = np.empty(RESULT) if out else None
    results = heed.attention(
        q,
        k,
        v,
        modifiers=(heed.soft_cap(1.0), heed.dense_bias(b)),
        mask=m,
        return_weights=weights,
        return_lse=lse,
        return_scores=scores,
        return_present=present,
        out=given,
    )
    if len(expected) == 1:
        results = (results,)
    assert isinstance(results, tuple) and len(results) == len(expected)
    assert not out or results[0] is given
    for ours, theirs in zip(results, expected):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_scores_of_stages_around_a_mask() -> None:
    """Before the mask they are those of all pairs, after it hidden ones are -inf."""
    q, k, v = twin.arrays(2, *SHAPES)
    seen = twin.causal(5, 7)
    right = twin.attention(q, k, v, modifiers=(twin.soft_cap(0.5),), seen=seen)
    for stage in ("raw", "modified", "masked"):
        output, scores = heed.attention(
            q, k, v, modifiers=heed.soft_cap(0.5), mask=heed.causal(), return_scores=stage
        )
        np.testing.assert_allclose(output, right.output, atol=1e-12)
        np.testing.assert_allclose(scores, getattr(right, stage), atol=1e-12)


def test_weights_are_those_before_dropout() -> None:
    q, k, v = twin.arrays(3, *SHAPES)
    _, weights = heed.attention(q, k, v, dropout=0.5, seed=1, return_weights=True)
    np.testing.assert_allclose(weights, twin.attention(q, k, v).weights, atol=1e-12)


# ---- out -----------------------------------------------------------------------------------------


def _embedded(shape: tuple[int, ...]) -> np.ndarray:
    return np.full([n + 2 for n in shape], 9.0)[tuple(slice(1, -1) for _ in shape)]


OUTS: dict[str, Callable[[], np.ndarray]] = {
    "contiguous": lambda: np.empty(RESULT),
    "time-first": lambda: np.empty((2, 5, 3, 6)).swapaxes(1, 2),
    "fortran": lambda: np.empty(RESULT, order="F"),
    "embedded": lambda: _embedded(RESULT),
    "every-second": lambda: np.full((2, 3, 5, 12), 9.0)[..., ::2],
    "last-axes-swapped": lambda: np.empty((2, 3, 6, 5)).swapaxes(2, 3),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", OUTS)
def test_out_is_written_and_nothing_beside_it(layout: str, dtype: str) -> None:
    q, k, v = twin.arrays(4, *SHAPES, dtype=dtype)
    memory = OUTS[layout]()
    out = memory if dtype == "float64" else memory.astype(dtype, order="K")
    out[...] = np.nan
    base = out if out.base is None else out.base
    beside = np.count_nonzero(base == 9.0)
    assert heed.attention(q, k, v, out=out) is out
    right = twin.attention(q, k, v).output
    np.testing.assert_allclose(out, right, atol=1e-12 if dtype == "float64" else 1e-5)
    assert np.count_nonzero(base == 9.0) == beside


@pytest.mark.parametrize("rank", [2, 3, 5])
def test_out_of_other_ranks(rank: int) -> None:
    lead = (4, 2, 3)[5 - rank :]
    q, k, v = twin.arrays(5, (*lead, 5, 8), (*lead, 7, 8), (*lead, 7, 6))
    out = np.empty((*lead, 5, 6))
    assert heed.attention(q, k, v, out=out) is out
    np.testing.assert_allclose(out, twin.attention(q, k, v).output, atol=1e-12)
    if rank == 5:
        with pytest.raises(heed.Error, match="not contiguous"):
            heed.attention(q, k, v, out=np.empty((2, 4, 3, 5, 6)).swapaxes(0, 1))


def test_out_in_bfloat16() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    q, k, v = twin.arrays(6, *SHAPES, dtype=bfloat16)
    out = np.empty(RESULT, bfloat16)
    assert heed.attention(q, k, v, out=out) is out
    np.testing.assert_array_equal(out, heed.attention(q, k, v))


def _read_only() -> np.ndarray:
    out = np.empty(RESULT)
    out.flags.writeable = False
    return out


def _on_itself() -> np.ndarray:
    """Rows that share elements with the next."""
    return np.lib.stride_tricks.as_strided(np.empty(4 * 90), RESULT, (8 * 90, 8 * 30, 8 * 5, 8))


@pytest.mark.parametrize(
    "out, error, message",
    [
        (lambda q: np.empty((2, 3, 5, 8)), heed.Error, "out is .2, 3, 5, 8.: the result is"),
        (lambda q: np.empty((1, *RESULT)), heed.Error, "out is .1, 2, 3, 5, 6."),
        (lambda q: np.empty(RESULT, np.float32), heed.Error, "out is f32"),
        (lambda q: np.empty(RESULT, np.float16), TypeError, "out: "),
        (lambda q: np.empty(RESULT, int), heed.Error, "out is i64"),
        (lambda q: np.empty(RESULT, object), TypeError, "out: "),
        (lambda q: _read_only(), TypeError, "out: the array is read-only"),
        (lambda q: b"" * 1440, TypeError, "out: "),
        (lambda q: np.empty(RESULT)[:, :, ::-1], TypeError, "negative strides"),
        (lambda q: np.broadcast_to(np.empty((1, 1, 5, 6)), RESULT), TypeError, "read-only"),
        (lambda q: _on_itself(), heed.Error, "several elements in one place"),
        (lambda q: q[..., :6], heed.Error, "out shares memory with an argument"),
        (lambda q: q.reshape(-1)[20:200].reshape(RESULT), heed.Error, "shares memory"),
        (lambda q: np.empty(RESULT).tolist(), TypeError, "out: list is no array"),
    ],
)
def test_what_out_cannot_be(out: Callable[..., Any], error: type[Exception], message: str) -> None:
    q, k, v = twin.arrays(7, *SHAPES)
    before = q.copy()
    with pytest.raises(error, match=message):
        heed.attention(q, k, v, out=out(q))
    np.testing.assert_array_equal(q, before)


def test_out_may_not_be_a_bias_or_a_mask() -> None:
    q, k, v, b = twin.arrays(8, *SHAPES, (2, 3, 5, 7))
    out = b.reshape(-1)[:180].reshape(RESULT)
    for call in (
        {"modifiers": heed.dense_bias(b)},
        {"mask": b},
        {"past_key": k, "past_value": b[..., :6]},
    ):
        with pytest.raises(heed.Error, match="shares memory"):
            heed.attention(q, k, v, out=out, **call)


# ---- the past ------------------------------------------------------------------------------------


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("past", [0, 1, 9])
def test_the_past_goes_in_front(past: int, grouped: bool) -> None:
    H = 6 if grouped else 3
    q, k, v = twin.arrays(9, (2, H, 5, 8), *SHAPES[1:])
    old_k, old_v = twin.arrays(10, (2, 3, past, 8), (2, 3, past, 6))
    keys, values = np.concatenate((old_k, k), 2), np.concatenate((old_v, v), 2)
    output, present_k, present_v = heed.attention(
        q,
        k,
        v,
        past_key=old_k,
        past_value=old_v,
        mask=heed.causal(past),
        enable_gqa=grouped,
        return_present=True,
    )
    seen = twin.causal(5, past + 7, past)
    right = twin.attention(q, twin.repeat_heads(keys, H), twin.repeat_heads(values, H), seen=seen)
    np.testing.assert_allclose(output, right.output, atol=1e-12)
    np.testing.assert_array_equal(present_k, keys)
    np.testing.assert_array_equal(present_v, values)
    assert not any(np.shares_memory(present_k, x) for x in (k, old_k))
    assert present_k.flags.writeable


def test_without_a_past_the_present_is_what_was_given() -> None:
    q, k, v = twin.arrays(11, *SHAPES)
    _, present_k, present_v = heed.attention(q, k, v, return_present=True)
    assert present_k is k and present_v is v


def test_step_by_step_as_at_once() -> None:
    q, k, v = twin.arrays(12, (1, 2, 6, 8), (1, 2, 6, 8), (1, 2, 6, 8))
    whole = heed.attention(q, k, v, mask=heed.causal())
    past_k, past_v = k[:, :, :0], v[:, :, :0]
    for t in range(6):
        now = slice(t, t + 1)
        step, past_k, past_v = heed.attention(
            q[:, :, now],
            k[:, :, now],
            v[:, :, now],
            past_key=past_k,
            past_value=past_v,
            return_present=True,
        )
        np.testing.assert_allclose(step, whole[:, :, now], atol=1e-12)


def test_half_a_past_is_refused() -> None:
    q, k, v = twin.arrays(13, *SHAPES)
    for past in ({"past_key": k}, {"past_value": v}):
        with pytest.raises(heed.Error, match="go together"):
            heed.attention(q, k, v, **past)


def test_a_past_of_another_shape_is_refused() -> None:
    q, k, v = twin.arrays(14, *SHAPES)
    with pytest.raises(heed.Error):
        heed.attention(q, k, v, past_key=k[..., :4], past_value=v)
    with pytest.raises(heed.Error):
        heed.attention(q, k, v, past_key=k[:1], past_value=v[:1])
    with pytest.raises(heed.Error, match="Tk must agree"):
        heed.attention(q, k, v, past_key=k, past_value=v[:, :, :3])


def test_names_that_do_not_exist() -> None:
    q, k, v = twin.arrays(15, *SHAPES)
    with pytest.raises(heed.Error, match="'raw', 'modified' and 'masked'"):
        heed.attention(q, k, v, return_scores="soft")
    with pytest.raises(TypeError, match="return_scores: int"):
        heed.attention(q, k, v, return_scores=1)
    with pytest.raises(TypeError):
        heed.attention(q, k, v, heed.causal())
    with pytest.raises(TypeError):
        heed.attention(q, k, v, is_causal=True)
