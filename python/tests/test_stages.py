"""Every score, modifier and normaliser against its twin: outputs, weights, scores, log-sum-exp."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
import twin

import heed

SIZES = [(2, 4, 5, 7, 8), (1, 4, 65, 63, 17), (1, 4, 1, 200, 16), (2, 4, 140, 9, 64)]
TOLERANCE = {"float64": 1e-11, "float32": 1e-5}


class Case(NamedTuple):
    """The same stages for heed and for the twin, made from sizes and a source of arrays."""

    name: str
    make: Callable[..., tuple[dict[str, Any], dict[str, Any]]]


def _general(n: Any, f: Any) -> Any:
    w = f(n.D, n.D) / n.D
    return {"score": heed.general_score(w)}, {"score": twin.general_score(w)}


def _general_of_heads(n: Any, f: Any) -> Any:
    w = f(n.H, n.D, n.D) / n.D
    return {"score": heed.general_score(w)}, {"score": twin.general_score(w)}


def _additive(n: Any, f: Any) -> Any:
    w = f(n.D)
    return {"score": heed.additive_score(w)}, {"score": twin.additive_score(w)}


def _additive_of_heads(n: Any, f: Any) -> Any:
    w = f(n.H, n.D)
    return {"score": heed.additive_score(w)}, {"score": twin.additive_score(w)}


def _cosine_of_heads(n: Any, f: Any) -> Any:
    s = f(n.H)
    return {"score": heed.cosine_score(s)}, {"score": twin.cosine_score(s)}


def _modifier(name: str, *given: Any, **named: Any) -> Case:
    """One that takes the same arguments in both; a function among them makes an array."""

    def make(n: Any, f: Any) -> Any:
        made = [x(n, f) if callable(x) else x for x in given]
        modify = getattr(twin, name)(*made, **named)
        return {"modifiers": getattr(heed, name)(*made, **named)}, {"modifiers": (modify,)}

    return Case("-".join([name, *map(str, named.values())]), make)


def _shaw(n: Any, f: Any, shape: tuple[int, ...], keys: bool, values: bool) -> Any:
    tables = f(*shape, 7, n.D), f(*shape, 7, n.D)
    theirs: dict[str, Any] = {}
    if keys:
        theirs["modifiers"] = (twin.shaw_keys(tables[0], n.D**-0.5, "bottom_right"),)
    if values:
        theirs["relative_values"] = twin.shaw_rows(tables[1], n.Tq, n.Tk, "bottom_right")
    given = tables[0] if keys else None, tables[1] if values else None
    return {"modifiers": [heed.shaw(*given, corner="bottom_right")]}, theirs


def _circular(n: Any, f: Any) -> Any:
    keys, values = f(5, n.D), f(n.H, 4, n.D)
    theirs = {
        "modifiers": (twin.shaw_keys(keys, n.D**-0.5, "bottom_right", twin.circular_rows),),
        "relative_values": twin.circular_rows(values, n.Tq, n.Tk, "bottom_right"),
    }
    return {"modifiers": [heed.circular(keys, values, corner="bottom_right")]}, theirs


def _gaussian(n: Any, f: Any) -> Any:
    centres = f(n.B, n.H, n.Tq) * n.Tk / 4 + n.Tk / 2
    theirs = {"reweight": (twin.gaussian(centres, 2.5),)}
    return {"modifiers": heed.gaussian(centres, 2.5)}, theirs


def _several(n: Any, f: Any) -> Any:
    """In the order in which they are written, then a mask of floats."""
    b, t, m = f(n.H, n.Tq, n.Tk), f(n.H, n.Tq + n.Tk - 1), f(n.B, 1, n.Tq, n.Tk)
    ours = [heed.dense_bias(b), heed.soft_cap(1.5), heed.distance_bias(t, n.Tk - 1), heed.temperature(0.7)]
    theirs = (
        twin.dense_bias(b),
        twin.soft_cap(1.5),
        twin.distance_bias(t, n.Tk - 1),
        twin.temperature(0.7),
    )
    return {"modifiers": ours, "mask": m}, {"modifiers": theirs, "bias": m}


def _sink(n: Any, f: Any) -> Any:
    s = f(n.H)
    return (
        {"normaliser": heed.softmax_with_sink(s)},
        {"normaliser": twin.softmax_with_sink(s)},
    )


CASES = [
    Case("scaled_dot", lambda n, f: ({}, {})),
    Case("scale", lambda n, f: ({"scale": 0.3}, {"score": twin.scaled_dot(0.3)})),
    Case("scale-0", lambda n, f: ({"scale": 0.0}, {"score": twin.scaled_dot(0.0)})),
    Case("scale-negative", lambda n, f: ({"scale": -0.2}, {"score": twin.scaled_dot(-0.2)})),
    Case("dot", lambda n, f: ({"score": "dot"}, {"score": twin.dot()})),
    Case("general", _general),
    Case("general-of-heads", _general_of_heads),
    Case("additive", _additive),
    Case("additive-of-heads", _additive_of_heads),
    Case("cosine", lambda n, f: ({"score": heed.cosine_score()}, {"score": twin.cosine_score()})),
    Case("cosine-9", lambda n, f: ({"score": heed.cosine_score(9.0)}, {"score": twin.cosine_score(9.0)})),
    Case("cosine-of-heads", _cosine_of_heads),
    _modifier("dense_bias", lambda n, f: f(n.B, n.H, n.Tq, n.Tk)),
    _modifier("dense_bias", lambda n, f: f(n.H, 1, n.Tk)),
    _modifier("dense_bias", lambda n, f: f(n.Tk)),
    _modifier("soft_cap", 0.8),
    _modifier("temperature", 2.5),
    _modifier("temperature", lambda n, f: np.abs(f(n.H)) + 0.5),
    _modifier("alibi", lambda n, f: f(n.H) / 8),
    _modifier("alibi", lambda n, f: f(n.H) / 8, corner="bottom_right"),
    _modifier("alibi", lambda n, f: f(n.H) / 8, corner=3),
    _modifier("distance_bias", lambda n, f: f(n.H, n.Tq + n.Tk), lambda n, f: n.Tk),
    _modifier(
        "distance_bias", lambda n, f: f(n.Tq + n.Tk), lambda n, f: n.Tq, corner="bottom_right"
    ),
    _modifier("t5_bias", lambda n, f: f(32, n.H)),
    _modifier("t5_bias", lambda n, f: f(8, n.H), bidirectional=False, corner="bottom_right"),
    _modifier("t5_bias", lambda n, f: f(16, n.H), max_distance=20, corner=-4),
    Case("shaw", lambda n, f: _shaw(n, f, (), True, True)),
    Case("circular", _circular),
    Case("shaw-keys-of-heads", lambda n, f: _shaw(n, f, (n.H,), True, False)),
    Case("shaw-values-of-heads", lambda n, f: _shaw(n, f, (n.H,), False, True)),
    Case("gaussian", _gaussian),
    Case("several", _several),
    Case("sink", _sink),
    Case("top_k", lambda n, f: ({"normaliser": heed.top_k_weights(3)}, {"normaliser": twin.top_k_weights(3)})),
    Case("top_k-all", lambda n, f: ({"normaliser": heed.top_k_weights(999)}, {"normaliser": twin.softmax})),
    Case("sparsemax", lambda n, f: ({"normaliser": "sparsemax"}, {"normaliser": twin.entmax(2.0)})),
    Case("entmax", lambda n, f: ({"normaliser": heed.entmax_weights()}, {"normaliser": twin.entmax(1.5)})),
    Case("entmax-1.3", lambda n, f: ({"normaliser": heed.entmax_weights(1.3)}, {"normaliser": twin.entmax(1.3)})),
    Case("sigmoid", lambda n, f: ({"normaliser": "sigmoid"}, {"normaliser": twin.sigmoid})),
    Case("none", lambda n, f: ({"normaliser": "none"}, {"normaliser": twin.none})),
]


class Sizes(NamedTuple):
    B: int
    H: int
    Tq: int
    Tk: int
    D: int


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_stage_is_its_twin(case: Case, sizes: tuple[int, ...], dtype: str) -> None:
    n = Sizes(*sizes)
    random = np.random.default_rng(7)
    ours, theirs = case.make(n, lambda *shape: random.standard_normal(shape).astype(dtype))
    q, k, v = twin.arrays(1, (n.B, n.H, n.Tq, n.D), *2 * [(n.B, n.H, n.Tk, n.D)], dtype=dtype)
    right = twin.attention(q, k, v, **theirs)
    output, weights = heed.attention(q, k, v, return_weights=True, **ours)

    # Numbers that grow with the sizes, as without a normaliser, are as good as their largest.
    def close(ours: np.ndarray, theirs: np.ndarray) -> None:
        assert ours.dtype == dtype
        finite = np.abs(theirs[np.isfinite(theirs)])
        atol = TOLERANCE[dtype] * max(1.0, finite.max(initial=0.0))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)

    close(output, right.output)
    close(weights, right.weights)
    for stage in ("raw", "modified", "masked"):
        close(heed.attention(q, k, v, return_scores=stage, **ours)[1], getattr(right, stage))
    sparse = case.name.startswith(("sparsemax", "entmax"))
    if not sparse and theirs.get("normaliser") not in (twin.sigmoid, twin.none):
        close(heed.attention(q, k, v, return_lse=True, **ours)[1], right.lse)


def test_alibi_of_a_number_of_heads_has_the_slopes_of_the_paper() -> None:
    for heads in (1, 2, 3, 8, 12):
        np.testing.assert_allclose(heed.alibi_slopes(heads), twin.alibi_slopes(heads), rtol=1e-6)
    q, k, v = twin.arrays(2, (1, 3, 4, 8), (1, 3, 6, 8), (1, 3, 6, 8))
    right = twin.attention(q, k, v, modifiers=(twin.alibi(twin.alibi_slopes(3)),))
    np.testing.assert_allclose(
        heed.attention(q, k, v, modifiers=heed.alibi(3)), right.output, atol=1e-11
    )


def test_general_score_joins_queries_and_keys_of_different_sizes() -> None:
    q, k, v, w = twin.arrays(3, (2, 3, 4, 5), (2, 3, 6, 8), (2, 3, 6, 7), (5, 8))
    right = twin.attention(q, k, v, score=twin.general_score(w))
    np.testing.assert_allclose(
        heed.attention(q, k, v, score=heed.general_score(w)), right.output, atol=1e-11
    )


def test_stages_read_their_arrays_at_every_call() -> None:
    q, k, v, b = twin.arrays(4, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), (3, 5))
    stage = heed.dense_bias(b)
    heed.attention(q, k, v, modifiers=stage)
    b += 1.0 * np.arange(5)
    right = twin.attention(q, k, v, modifiers=(twin.dense_bias(b),))
    np.testing.assert_allclose(heed.attention(q, k, v, modifiers=stage), right.output, atol=1e-12)
    assert stage.name == "dense_bias" and stage.arrays[0] is b
    assert repr(stage) == "heed.dense_bias(array)"


def test_arrays_of_stages_are_taken_in_the_precision_of_the_call() -> None:
    q, k, v, b = twin.arrays(5, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), (3, 5))
    single = heed.attention(
        *(x.astype(np.float32) for x in (q, k, v)), modifiers=heed.dense_bias(b), mask=b
    )
    right = twin.attention(q, k, v, modifiers=(twin.dense_bias(2 * b),)).output
    np.testing.assert_allclose(single, right, atol=1e-6)
    double = heed.attention(q, k, v, modifiers=heed.dense_bias(b.astype(np.float16)))
    right = twin.attention(q, k, v, modifiers=(twin.dense_bias(b.astype(np.float16)),)).output
    np.testing.assert_allclose(double, right, atol=1e-12)


# ---- numbers and arrays of one element -----------------------------------------------------------

LEARNED = [
    lambda x: {"modifiers": heed.temperature(x)},
    lambda x: {"score": heed.cosine_score(x)},
]
FIXED = {
    "cap": heed.soft_cap,
    "deviation": lambda x: heed.gaussian(np.zeros((1, 1, 3)), x),
    "zero": lambda x: heed.distance_bias(np.zeros(9), x),
    "max_distance": lambda x: heed.t5_bias(np.zeros((4, 2)), max_distance=x),
    "k": heed.top_k_weights,
    "corner": heed.causal,
    "left": lambda x: heed.window(x, 1),
    "step": lambda x: heed.dilated_window(1, 1, x),
    "reach": lambda x: heed.window_around(np.zeros((1, 1, 3)), x),
}


@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
@pytest.mark.parametrize("stage", LEARNED)
def test_an_array_of_one_element_is_a_parameter(stage: Any, shape: tuple[int, ...]) -> None:
    q, k, v, dy = twin.arrays(9, *4 * [(1, 2, 3, 4)])
    parameter = np.full(shape, 2.0)
    options = stage(parameter)
    fixed = stage(2.0)
    np.testing.assert_allclose(
        heed.attention(q, k, v, **options), heed.attention(q, k, v, **fixed), atol=1e-12
    )
    (gradient,) = heed.backward(dy, q, k, v, **options).others
    assert gradient.shape == shape and heed.backward(dy, q, k, v, **fixed).others == ()
    at = [(heed.attention(q, k, v, **stage(x)) * dy).sum() for x in (2.0 - 1e-5, 2.0 + 1e-5)]
    np.testing.assert_allclose(gradient.item(), (at[1] - at[0]) / 2e-5, atol=1e-7)
    parameter[...] = 3.0
    np.testing.assert_allclose(
        heed.attention(q, k, v, **options), heed.attention(q, k, v, **stage(3.0)), atol=1e-12
    )


@pytest.mark.parametrize("scalar", [2, np.float64(2.0), np.float32(2.0), np.int64(2)], ids=repr)
@pytest.mark.parametrize("stage", LEARNED)
def test_scalars_are_constants(stage: Any, scalar: Any) -> None:
    (part,) = stage(scalar).values()
    assert part.arrays == []


@pytest.mark.parametrize("array", [np.array(2.0), np.array([2.0]), np.array(2), np.array([2])])
@pytest.mark.parametrize("name", FIXED)
def test_numbers_that_cannot_be_learned_refuse_arrays(name: str, array: Any) -> None:
    with pytest.raises(TypeError, match=name):
        FIXED[name](array)
    FIXED[name](2)
    FIXED[name](np.int64(2))


def test_an_array_of_one_slope_is_no_number_of_heads() -> None:
    q, k, v = twin.arrays(10, *3 * [(1, 1, 3, 4)])
    slopes = np.array([1.7])
    output = heed.attention(q, k, v, modifiers=heed.alibi(slopes))
    right = twin.attention(q, k, v, modifiers=(twin.alibi(slopes),)).output
    np.testing.assert_allclose(output, right, atol=1e-12)


def test_whole_numbers_have_no_fraction() -> None:
    for wrong in (2.5, np.float64(2.5), "2"):
        with pytest.raises(TypeError, match="k: .*whole number"):
            heed.top_k_weights(wrong)  # type: ignore[arg-type]
    with pytest.raises(heed.Error, match="64 bits"):
        heed.top_k_weights(1 << 80)
    with pytest.raises(TypeError, match="cap: str"):
        heed.soft_cap("2")  # type: ignore[arg-type]


def test_scale_and_dropout_are_read_at_the_call() -> None:
    q, k, v = twin.arrays(11, *3 * [(1, 2, 3, 4)])
    np.testing.assert_array_equal(
        heed.attention(q, k, v, scale=np.array(0.3)), heed.attention(q, k, v, scale=0.3)
    )
    with pytest.raises(TypeError, match="scale: str"):
        heed.attention(q, k, v, scale="0.3")  # type: ignore[arg-type]


def _call(**options: Any) -> Any:
    return heed.attention(*twin.arrays(6, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)), **options)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: _call(score="doot"), "'scaled_dot' and 'dot' go by name"),
        (lambda: _call(score="dot", scale=1.0), "scale goes with the score 'scaled_dot'"),
        (lambda: _call(score=heed.cosine_score(), scale=1.0), "scale goes with the score 'scaled_dot'"),
        (lambda: _call(normaliser="softmx"), "'softmax', 'sparsemax', 'sigmoid' and 'none' go by name"),
        (lambda: _call(modifiers=heed.dense_bias(np.zeros((4, 5)))), "does not broadcast"),
        (lambda: _call(modifiers=heed.alibi(np.zeros(3))), "slopes"),
        (lambda: _call(normaliser="sigmoid", return_lse=True), "only softmax does"),
        (lambda: heed.soft_cap(0.0), "cap"),
        (lambda: heed.temperature(0.0), "temperature"),
        (lambda: heed.top_k_weights(0), "top_k"),
        (lambda: heed.entmax_weights(1.0), "alpha is 1: it must be above 1"),
        (lambda: heed.alibi(0), "0 heads"),
        (lambda: heed.shaw(), "give a table"),
        (lambda: heed.causal("middle"), "corner 'middle'"),
    ],
)
def test_wrong_values_are_errors_of_heed(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(heed.Error, match=message):
        wrong()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: _call(score=heed.soft_cap(1.0)), "score: heed.soft_cap is a modifier, not a score"),
        (lambda: _call(modifiers=heed.top_k_weights(2)), "heed.top_k_weights is a normaliser, not a modifier"),
        (lambda: _call(modifiers=[heed.causal()]), "Mask is not a modifier"),
        (lambda: _call(modifiers=1), "neither a modifier nor a sequence"),
        (lambda: _call(normaliser=heed.cosine_score()), "heed.cosine_score is a score, not a normaliser"),
        (lambda: _call(score=3), "int is not a score"),
        (lambda: heed.dense_bias([1.0]), "array: list is no array"),
        (lambda: heed.dense_bias(np.zeros(3, int)), "must be floating point"),
        (lambda: heed.causal(1.5), "corner"),
    ],
)
def test_wrong_types_are_type_errors(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wrong()
