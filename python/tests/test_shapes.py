"""Operands of any rank that broadcast, grouped heads, and sizes of 0."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import twin

import heed

# The axes before the last two, of q, k and v.
LEADS = [
    ((), (), ()),
    ((3,), (3,), (3,)),
    ((3,), (), ()),
    ((), (3,), (1,)),
    ((2, 3), (3,), (2, 1)),
    ((1, 3), (2, 1), (2, 3)),
    ((), (2, 3), (2, 3)),
    ((4, 2, 3), (4, 2, 3), (4, 2, 3)),
    ((4, 1, 3), (2, 1), (4, 2, 3)),
    ((3,), (4, 2, 1), (2, 3)),
    ((5, 4, 2, 3), (5, 1, 2, 3), (1,)),
    ((1, 4, 1, 1), (5, 1, 2, 3), (5, 4, 1, 3)),
    ((1, 1, 1, 1, 2, 3), (3,), (2, 1)),
]


@pytest.mark.parametrize("leads", LEADS, ids=str)
def test_axes_before_the_last_two_broadcast(leads: Any) -> None:
    sizes = [(5, 8), (7, 8), (7, 6)]
    q, k, v = twin.arrays(1, *(lead + size for lead, size in zip(leads, sizes)))
    right = twin.attention(q, k, v)
    output, weights, lse, raw = heed.attention(
        q, k, v, return_weights=True, return_lse=True, return_scores="raw"
    )
    expected = (right.output, right.weights, right.lse, right.raw)
    for ours, theirs in zip((output, weights, lse, raw), expected):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("leads", LEADS, ids=str)
def test_masks_broadcast_with_operands(leads: Any) -> None:
    q, k, v = twin.arrays(2, *(lead + size for lead, size in zip(leads, [(5, 8), (7, 8), (7, 6)])))
    lead = np.broadcast_shapes(*leads)
    for shape in {lead, lead[1:], (1,) * len(lead), (*lead[:-1], 1)[: len(lead)], ()}:
        numbers = np.random.default_rng(0).standard_normal((*shape, 5, 7))
        ours = heed.attention(q, k, v, mask=numbers > 0)
        theirs = twin.attention(q, k, v, seen=numbers > 0).output
        np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=str(shape))
        ours = heed.attention(q, k, v, mask=numbers)
        theirs = twin.attention(q, k, v, bias=numbers).output
        np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=str(shape))


@pytest.mark.parametrize(
    "heads", [(6, 6, 6), (6, 2, 2), (6, 1, 1), (6, 3, 2), (6, 6, 1), (1, 1, 1)]
)
@pytest.mark.parametrize("batch", [(), (2,), (3, 2)], ids=str)
def test_grouped_heads(batch: tuple[int, ...], heads: tuple[int, ...]) -> None:
    H, G, Gv = heads
    q, k, v = twin.arrays(3, (*batch, H, 5, 8), (*batch, G, 7, 8), (*batch, Gv, 7, 6))
    right = twin.attention(
        q, twin.repeat_heads(k, H), twin.repeat_heads(v, H), seen=twin.causal(5, 7)
    )
    ours = heed.attention(q, k, v, mask=heed.causal(), enable_gqa=True)
    np.testing.assert_allclose(ours, right.output, atol=1e-12)


@pytest.mark.parametrize("empty", list(itertools.product([0, 2], [0, 3], [0, 5], [0, 7])))
@pytest.mark.parametrize("masked", [False, True])
def test_sizes_of_0(empty: tuple[int, ...], masked: bool) -> None:
    B, H, queries, keys = empty
    q, k, v = twin.arrays(4, (B, H, queries, 8), (B, H, keys, 8), (B, H, keys, 6))
    call = {"mask": heed.causal()} if masked else {}
    if H == 0:
        with pytest.raises(heed.Error):
            heed.attention(q, k, v, **call)
        return
    right = twin.attention(q, k, v, seen=twin.causal(queries, keys) if masked else True)
    output, weights, lse, scores = heed.attention(
        q, k, v, return_weights=True, return_lse=True, return_scores="masked", **call
    )
    expected = (right.output, right.weights, right.lse, right.masked)
    for ours, theirs in zip((output, weights, lse, scores), expected):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    gradients = heed.backward(np.ones_like(output), q, k, v, **call)
    for gradient, x in zip(gradients, (q, k, v)):
        assert gradient.shape == x.shape
    if keys == 0:
        assert (output == 0).all() and (gradients.q == 0).all()


def test_an_empty_mask_for_no_keys() -> None:
    q, k, v = twin.arrays(5, (2, 3, 4, 8), (2, 3, 0, 8), (2, 3, 0, 6))
    for mask in (np.ones((4, 0), bool), np.ones((2, 1, 4, 0))):
        assert (heed.attention(q, k, v, mask=mask) == 0).all()


@pytest.mark.parametrize(
    "shapes, message",
    [
        (((8,), (7, 8), (7, 8)), "q is .8.: it needs at least two axes"),
        (((5, 8), (8,), (7, 8)), "k is .8.: it needs at least two axes"),
        (((5, 8), (7, 9), (7, 8)), "D = 8"),
        (((5, 8), (7, 8), (6, 8)), "7 keys"),
        (((2, 5, 8), (3, 7, 8), (3, 7, 8)), "enable_gqa"),
        (((4, 5, 8), (2, 7, 8), (2, 7, 8)), "enable_gqa=True"),
        (((2, 3, 5, 8), (3, 3, 7, 8), (3, 3, 7, 8)), "do not broadcast"),
        (((5, 0), (7, 0), (7, 6)), "last axis must not be empty"),
        (((5, 8), (7, 8), (7, 0)), "last axis must not be empty"),
        (((1,) * 7 + (5, 8), (7, 8), (7, 8)), "9 axes: at most 8"),
    ],
)
def test_shapes_that_do_not_fit(shapes: Any, message: str) -> None:
    with pytest.raises(heed.Error, match=message):
        heed.attention(*twin.arrays(6, *shapes))


def test_groups_that_do_not_fit() -> None:
    q, k, v = twin.arrays(7, (2, 4, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8))
    with pytest.raises(heed.Error, match="4 heads of queries and 3 of keys"):
        heed.attention(q, k, v, enable_gqa=True)
