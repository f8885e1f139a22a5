"""heed.backward against central differences of heed.attention, both in double precision."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
import twin

import heed

B, H, QUERIES, KEYS, D, DV = 2, 4, 5, 6, 4, 3


def _numeric(f: Callable[[], float], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The gradient of f by x, whose elements are moved one by one."""
    gradient = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        kept = x[at]
        x[at] = kept + step
        above = f()
        x[at] = kept - step
        below = f()
        x[at] = kept
        gradient[at] = (above - below) / (2 * step)
    return gradient


class Case(NamedTuple):
    """Options of a call, from a maker of arrays, and how many of those it learns."""

    name: str
    options: Callable[..., dict[str, Any]]
    learned: int = 0


CASES = [
    Case("plain", lambda f: {}),
    Case("scale", lambda f: {"scale": 0.7}),
    Case("dot", lambda f: {"score": "dot"}),
    Case("general", lambda f: {"score": heed.general_score(f(D, D))}, 1),
    Case("general-of-heads", lambda f: {"score": heed.general_score(f(H, D, D))}, 1),
    Case("additive", lambda f: {"score": heed.additive_score(f(D))}, 1),
    Case("additive-of-heads", lambda f: {"score": heed.additive_score(f(H, D))}, 1),
    Case("cosine", lambda f: {"score": heed.cosine_score(3.0)}),
    Case("cosine-of-heads", lambda f: {"score": heed.cosine_score(f(H))}, 1),
    Case("bias", lambda f: {"modifiers": heed.dense_bias(f(B, 1, QUERIES, KEYS))}, 1),
    Case("bias-of-keys", lambda f: {"modifiers": heed.dense_bias(f(KEYS))}, 1),
    Case("alibi", lambda f: {"modifiers": heed.alibi(f(H))}, 1),
    Case("distance_bias", lambda f: {"modifiers": heed.distance_bias(f(H, 12), 6)}, 1),
    Case("distance_bias-shared", lambda f: {"modifiers": heed.distance_bias(f(12), 6)}, 1),
    Case("t5", lambda f: {"modifiers": heed.t5_bias(f(8, H), max_distance=5)}, 1),
    Case("circular", lambda f: {"modifiers": heed.circular(f(3, D), f(3, DV))}, 2),
    Case("shaw", lambda f: {"modifiers": heed.shaw(f(5, D), f(5, DV))}, 2),
    Case("shaw-of-heads", lambda f: {"modifiers": heed.shaw(values=f(H, 5, DV))}, 1),
    Case("softcap", lambda f: {"modifiers": heed.soft_cap(0.8)}),
    Case("temperature", lambda f: {"modifiers": heed.temperature(1 + f(H) ** 2)}, 1),
    Case("temperature-number", lambda f: {"modifiers": heed.temperature(0.6)}),
    Case("gaussian", lambda f: {"modifiers": heed.gaussian(3 + f(B, H, QUERIES), 1.5)}, 1),
    Case("mask-of-floats", lambda f: {"mask": f(H, QUERIES, KEYS)}, 1),
    Case("mask-of-bools", lambda f: {"mask": f(B, 1, QUERIES, KEYS) > -0.5}),
    Case("causal", lambda f: {"mask": heed.causal("bottom_right") & heed.key_lengths([2, KEYS])}),
    Case("sink", lambda f: {"normaliser": heed.softmax_with_sink(f(H))}, 1),
    Case("top_k", lambda f: {"normaliser": heed.top_k_weights(3)}),
    Case("entmax", lambda f: {"normaliser": heed.entmax_weights()}),
    Case("sigmoid", lambda f: {"normaliser": "sigmoid"}),
    Case("none", lambda f: {"normaliser": "none"}),
    Case("dropout", lambda f: {"dropout": 0.4, "seed": 11}),
    Case(
        "everything",
        lambda f: {
            "score": heed.general_score(f(D, D)),
            "modifiers": [heed.dense_bias(f(QUERIES, KEYS)), heed.soft_cap(2.0), heed.alibi(f(H))],
            "mask": f(1, KEYS),
            "normaliser": heed.softmax_with_sink(f(H)),
            "dropout": 0.2,
            "seed": 5,
        },
        5,
    ),
]


def _stage_arrays(options: dict[str, Any]) -> list[np.ndarray]:
    """In the order in which their gradients come."""
    modifiers = options.get("modifiers", ())
    modifiers = [modifiers] if isinstance(modifiers, heed.Stage) else modifiers
    found: list[np.ndarray] = []
    for part in (options.get("score"), *modifiers, options.get("mask"), options.get("normaliser")):
        if isinstance(part, heed.Stage):
            found += part.arrays
        elif isinstance(part, np.ndarray) and part.dtype != bool:
            found.append(part)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gradients_are_those_of_small_steps(case: Case) -> None:
    random = np.random.default_rng(1)
    options = case.options(lambda *shape: random.standard_normal(shape))
    q, k, v = twin.arrays(2, (B, H, QUERIES, D), (B, H, KEYS, D), (B, H, KEYS, DV))
    dy, dlse = twin.arrays(3, (B, H, QUERIES, DV), (B, H, QUERIES))
    arrays = _stage_arrays(options)
    assert len(arrays) == case.learned
    gradients = heed.backward(dy, q, k, v, **options)
    assert len(gradients.others) == case.learned

    def loss() -> float:
        return float((heed.attention(q, k, v, **options) * dy).sum())

    for x, gradient in zip([q, k, v, *arrays], [*gradients[:3], *gradients.others]):
        assert gradient.dtype == np.float64 and gradient.shape == x.shape
        np.testing.assert_allclose(gradient, _numeric(loss, x), atol=2e-8, rtol=1e-6)
    if case.name in ("sigmoid", "none", "entmax"):
        return

    def both() -> float:
        output, lse = heed.attention(q, k, v, return_lse=True, **options)
        return float((output * dy).sum() + (np.where(np.isfinite(lse), lse, 0) * dlse).sum())

    gradients = heed.backward(dy, q, k, v, grad_lse=dlse, **options)
    for x, gradient in zip([q, k, *arrays], [*gradients[:2], *gradients.others]):
        np.testing.assert_allclose(gradient, _numeric(both, x), atol=2e-8, rtol=1e-6)


@pytest.mark.parametrize(
    "leads", [((3,), (), ()), ((4, 1, 2), (3, 1), (4, 3, 1)), ((), (3,), (1,))]
)
def test_gradients_of_what_was_broadcast_are_summed(leads: Any) -> None:
    lead = np.broadcast_shapes(*leads)
    q, k, v = twin.arrays(4, *(a + b for a, b in zip(leads, [(4, D), (5, D), (5, DV)])))
    dy = twin.arrays(5, (*lead, 4, DV))[0]
    gradients = heed.backward(dy, q, k, v)
    for x, gradient in zip((q, k, v), gradients):
        assert gradient.shape == x.shape
        numeric = _numeric(lambda: float((heed.attention(q, k, v) * dy).sum()), x)
        np.testing.assert_allclose(gradient, numeric, atol=1e-8)


def test_gradients_of_groups_and_of_the_past() -> None:
    q, k, v, old_k, old_v = twin.arrays(
        6, (2, 4, 3, D), (2, 2, 3, D), (2, 2, 3, DV), (2, 2, 2, D), (2, 2, 2, DV)
    )
    dy, b = twin.arrays(7, (2, 4, 3, DV), (3, 5))
    call = {
        "past_key": old_k,
        "past_value": old_v,
        "enable_gqa": True,
        "mask": heed.causal(2),
        "modifiers": heed.dense_bias(b),
    }
    gradients = heed.backward(dy, q, k, v, **call)
    for x, gradient in zip((q, k, v, old_k, old_v, b), (*gradients[:3], *gradients.others)):
        numeric = _numeric(lambda: float((heed.attention(q, k, v, **call) * dy).sum()), x)
        np.testing.assert_allclose(gradient, numeric, atol=1e-8)


def test_no_gradient_where_nothing_is_seen() -> None:
    q, k, v = twin.arrays(8, (1, 2, 4, D), (1, 2, 6, D), (1, 2, 6, DV))
    k[:, :, 4:], v[:, :, 4:] = np.nan, np.inf
    seen = np.ones((4, 6), bool)
    seen[:, 4:] = seen[1] = False
    gradients = heed.backward(np.ones((1, 2, 4, DV)), q, k, v, mask=seen)
    assert all(np.isfinite(g).all() for g in gradients[:3])
    assert (gradients.q[:, :, 1] == 0).all()
    assert (gradients.k[:, :, 4:] == 0).all() and (gradients.v[:, :, 4:] == 0).all()
    alone = heed.backward(np.ones((1, 2, 4, DV)), q, k[:, :, :4], v[:, :, :4], mask=seen[:, :4])
    np.testing.assert_allclose(gradients.q, alone.q, atol=1e-12)


def test_one_array_in_two_roles_has_a_gradient_for_each() -> None:
    x, dy = twin.arrays(9, (1, 2, 4, D), (1, 2, 4, D))
    gradients = heed.backward(dy, x, x, x)
    numeric = _numeric(lambda: float((heed.attention(x, x, x) * dy).sum()), x)
    np.testing.assert_allclose(sum(gradients[:3]), numeric, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_have_the_type_of_their_arrays(dtype: Any) -> None:
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    given = twin.arrays(10, *3 * [(2, 3, 4, 8)], dtype=dtype)
    b, dy = twin.arrays(11, (4, 4), (2, 3, 4, 8), dtype=dtype)
    gradients = heed.backward(dy, *given, modifiers=heed.dense_bias(b))
    double = [x.astype(np.float64) for x in (dy, *given, b)]
    right = heed.backward(*double[:4], modifiers=heed.dense_bias(double[4]))
    tolerance = 1e-5 if dtype == "float32" else 3e-2
    for ours, theirs in zip((*gradients[:3], *gradients.others), (*right[:3], *right.others)):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours.astype(np.float64), theirs, atol=tolerance, rtol=tolerance)


def test_gradients_of_strided_arrays() -> None:
    q, k, v, dy = twin.arrays(12, *4 * [(2, 5, 3, 8)])
    plain = heed.backward(*(np.ascontiguousarray(x.swapaxes(1, 2)) for x in (dy, q, k, v)))
    for change in (lambda x: x.swapaxes(1, 2), lambda x: x.swapaxes(1, 2)[..., ::-1]):
        gradients = heed.backward(*(change(x) for x in (dy, q, k, v)))
        for ours, theirs in zip(gradients[:3], plain):
            back = ours if change(q).strides[-1] > 0 else ours[..., ::-1]
            np.testing.assert_allclose(back, theirs, atol=1e-12)


def test_what_backward_refuses() -> None:
    q, k, v, dy = twin.arrays(13, *4 * [(2, 3, 4, 8)])
    with pytest.raises(heed.Error, match="is .2, 3, 4, 7.: the result is"):
        heed.backward(dy[..., :7], q, k, v)
    with pytest.raises(heed.Error, match="dropout without a seed"):
        heed.backward(dy, q, k, v, dropout=0.5)
    with pytest.raises(TypeError, match="floating point"):
        heed.backward(dy.astype(int), q, k, v)
    with pytest.raises(TypeError):
        heed.backward(dy, q, k, v, out=dy)


def test_no_gradient_of_the_output_is_none_of_the_rest() -> None:
    q, k, v = twin.arrays(14, *3 * [(2, 3, 4, 8)])
    gradients = heed.backward(None, q, k, v)
    assert all((g == 0).all() and g.shape == q.shape for g in gradients[:3])
    dlse = np.ones((2, 3, 4))
    gradients = heed.backward(None, q, k, v, grad_lse=dlse)
    weights = twin.attention(q, k, v).weights
    np.testing.assert_allclose(gradients.q, weights @ k * 8**-0.5, atol=1e-12)
    assert (gradients.v == 0).all()
