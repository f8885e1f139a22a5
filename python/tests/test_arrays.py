"""Arrays as they come: layouts, element types, other libraries' objects, and what is refused."""

from __future__ import annotations

import array
from typing import Any, Callable

import numpy as np
import pytest
import twin

import heed

SHAPE = (2, 3, 6, 8)


def _unaligned(x: np.ndarray) -> np.ndarray:
    """The same numbers, one byte off their natural place."""
    memory = np.empty(x.nbytes + 1, np.uint8)
    moved = memory[1:].view(x.dtype).reshape(x.shape)
    moved[...] = x
    assert not moved.flags.aligned
    return moved


def _spread(x: np.ndarray) -> np.ndarray:
    """Every second number of an array with garbage in between."""
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def _in_records(x: np.ndarray) -> np.ndarray:
    """A field of records whose size is no multiple of the number's."""
    records = np.zeros(x.shape, np.dtype([("flag", "u1"), ("x", x.dtype)]))
    records["x"] = x
    return records["x"]


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda x: x,
    "time-first": lambda x: np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2),
    "fortran": np.asfortranarray,
    "last-axes-swapped": lambda x: np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3),
    "sliced": lambda x: np.pad(x, [(1, 2)] * 4, constant_values=np.nan)[1:-2, 1:-2, 1:-2, 1:-2],
    "spread": _spread,
    "backwards": lambda x: x[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
    "backwards-last": lambda x: x[..., ::-1].copy()[..., ::-1],
    "unaligned": _unaligned,
    "records": _in_records,
    "read-only": _read_only,
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_do_not_matter(layout: str, dtype: str) -> None:
    q, k, v = twin.arrays(1, SHAPE, SHAPE, SHAPE, dtype=dtype)
    b = twin.arrays(2, (2, 3, 6, 6), dtype=dtype)[0]
    plain = heed.attention(q, k, v, modifiers=heed.dense_bias(b))
    change = LAYOUTS[layout]
    moved = heed.attention(change(q), change(k), change(v), modifiers=heed.dense_bias(change(b)))
    np.testing.assert_allclose(moved, plain, atol=0 if dtype != "float32" else 1e-6)
    right = twin.attention(q, k, v, modifiers=(twin.dense_bias(b.astype(np.float64)),)).output
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3}[dtype]
    np.testing.assert_allclose(moved.astype(np.float64), right, atol=tolerance)
    for x, kept in zip((q, k, v), twin.arrays(1, SHAPE, SHAPE, SHAPE, dtype=dtype)):
        np.testing.assert_array_equal(x, kept)


def test_strides_of_0_are_read_as_they_are() -> None:
    q, k, v = twin.arrays(3, SHAPE, (1, 1, 6, 8), (2, 3, 1, 8))
    k, v = np.broadcast_to(k, SHAPE), np.broadcast_to(v, SHAPE)
    right = twin.attention(q, k, v).output
    np.testing.assert_allclose(heed.attention(q, k, v), right, atol=1e-12)
    same = np.broadcast_to(np.float64(0.25), SHAPE)
    np.testing.assert_allclose(heed.attention(same, k, same), same, atol=1e-15)


def test_results_are_laid_out_as_queries_are() -> None:
    q = np.ascontiguousarray(np.ones((2, 6, 3, 8), np.float32)).swapaxes(1, 2)
    output = heed.attention(q, q, q)
    assert output.strides == q.strides
    assert output.swapaxes(1, 2).flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_results_have_the_queries_type(dtype: str) -> None:
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    q, k, v = twin.arrays(4, SHAPE, SHAPE, SHAPE, dtype=dtype)
    output, weights, lse, scores, key, value = heed.attention(
        q,
        k,
        v,
        past_key=k,
        past_value=v,
        return_weights=True,
        return_lse=True,
        return_scores="raw",
        return_present=True,
    )
    doubled = [np.concatenate((x, x), 2) for x in (k, v)]
    right = twin.attention(q, *doubled)
    tolerance = {8: 1e-12, 4: 1e-5}.get(np.dtype(dtype).itemsize, 2e-2)
    for ours, theirs in zip((output, weights, scores), (right.output, right.weights, right.raw)):
        assert ours.dtype == q.dtype and type(ours) is np.ndarray
        np.testing.assert_allclose(ours.astype(np.float64), theirs, atol=tolerance)
    # 16 bits are too few for a logarithm that is taken back.
    assert lse.dtype == (np.float64 if dtype == "float64" else np.float32)
    np.testing.assert_allclose(lse, right.lse, atol=min(tolerance, 1e-3))
    for ours, theirs in zip((key, value), doubled):
        assert ours.dtype == q.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_16_bit_floats_keep_what_is_small_large_and_not_finite() -> None:
    v = np.array([[6e-8, 65504.0, -0.0, np.inf]], np.float16)
    q = np.ones((1, 4), np.float16)
    np.testing.assert_array_equal(heed.attention(q, q, v), v)
    assert np.isnan(heed.attention(q, q, np.full((1, 4), np.nan, np.float16))).all()


def test_buffers_of_the_standard_library() -> None:
    numbers = array.array("f", range(12))
    view = memoryview(numbers).cast("B").cast("f", (3, 4))
    right = twin.attention(*3 * [np.array(numbers).reshape(3, 4)]).output
    output = heed.attention(view, view, view)
    assert type(output) is np.ndarray
    np.testing.assert_allclose(output, right, atol=1e-5)


def test_objects_that_speak_only_dlpack() -> None:
    class Wrapped:
        """No more than the protocol asks for, without and with versions."""

        def __init__(self, x: np.ndarray, versions: bool) -> None:
            self.x, self.versions = x, versions

        def __dlpack_device__(self) -> Any:
            return self.x.__dlpack_device__()

        def __dlpack__(self, **options: Any) -> Any:
            if not self.versions and options:
                raise TypeError("no such option")
            return self.x.__dlpack__(**options)

    q, k, v = twin.arrays(5, SHAPE, SHAPE, SHAPE)
    for versions in (False, True):
        output = heed.attention(*(Wrapped(x, versions) for x in (q, k, v)))
        np.testing.assert_array_equal(output, heed.attention(q, k, v))


def test_an_array_elsewhere_is_refused() -> None:
    class Elsewhere:
        def __dlpack_device__(self) -> Any:
            return (2, 0)

        def __dlpack__(self, **options: Any) -> Any:
            raise AssertionError("must not be asked")

    x = np.ones((4, 8), np.float32)
    with pytest.raises(TypeError, match="k: .*computes on the CPU"):
        heed.attention(x, Elsewhere(), x)


def test_subclasses_of_arrays() -> None:
    class Mine(np.ndarray):
        pass

    x = twin.arrays(6, (4, 8))[0]
    output = heed.attention(x.view(Mine), x, x)
    np.testing.assert_array_equal(np.asarray(output), heed.attention(x, x, x))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: x.astype(object),
        lambda x: x.astype(int),
        lambda x: x.astype(np.int8),
        lambda x: x.astype(bool),
        lambda x: x.astype(complex),
        lambda x: x.astype(np.longdouble),
        lambda x: x.astype(x.dtype.newbyteorder()),
        lambda x: x.astype("datetime64[s]"),
        lambda x: x.astype(str),
        lambda x: np.zeros(x.shape, [("a", "f4")]),
        lambda x: x.tolist(),
        lambda x: None,
        lambda x: "array",
        lambda x: b"array",
        lambda x: 1.0,
    ],
)
@pytest.mark.parametrize("place", range(3))
def test_other_elements_are_refused(wrong: Callable[[np.ndarray], Any], place: int) -> None:
    given: list[Any] = twin.arrays(7, SHAPE, SHAPE, SHAPE, dtype=np.float32)
    given[place] = wrong(given[place])
    with pytest.raises(TypeError, match="None" if given[place] is None else "qkv"[place] + ": "):
        heed.attention(*given)


def test_elements_of_other_sizes_are_refused() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.ones((4, 8), ml_dtypes.float8_e4m3fn)
    with pytest.raises(TypeError, match="q: "):
        heed.attention(x, x, x)


def test_operands_of_several_types_are_refused() -> None:
    q, k, v = twin.arrays(8, SHAPE, SHAPE, SHAPE, dtype=np.float32)
    for other in (np.float64, np.float16):
        with pytest.raises(heed.Error, match="one dtype"):
            heed.attention(q, k.astype(other), v)
        with pytest.raises(heed.Error, match="one dtype"):
            heed.attention(q.astype(other), k, v)
        with pytest.raises(heed.Error, match="past_key .* one dtype"):
            heed.attention(q, k, v, past_key=k.astype(other), past_value=v.astype(other))
