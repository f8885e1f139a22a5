"""Tensors that are not what their memory says, autocast, and masks that PyTorch refuses."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed  # noqa: E402
import heed.torch as ht  # noqa: E402
from torch.nn.attention.bias import causal_lower_right, causal_upper_left  # noqa: E402
from torch_cases import BOTH_WAYS, agree, draw, expected, operands, replaced, tracked  # noqa: E402


# ---- autocast ------------------------------------------------------------------------------------


@BOTH_WAYS
def test_autocast(attend):
    q, k, v = operands(torch.float32)
    mask = draw(4, 6, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        for tensors, options in (
            ((q, k, v), {}),
            ((q, k, v.bfloat16()), {}),
            ((q.half(), k, v.bfloat16()), {}),
            ((q, k, v), {"attn_mask": mask}),
            ((q.double(), k.double(), v.double()), {}),
        ):
            ours, theirs = attend(*tensors, **options), expected(*tensors, **options)
            assert ours.dtype == theirs.dtype
            agree(ours.double(), theirs.double(), 2e-2)
    with torch.autocast("cpu", torch.float16):
        assert attend(q, k, v).dtype == torch.float16


def test_autocast_gradients():
    results = []
    for attend in (replaced, expected):
        tensors = tracked(*operands(torch.float32))
        with torch.autocast("cpu", torch.bfloat16):
            loss = attend(*tensors).float().square().sum()
        results.append(torch.autograd.grad(loss, tensors))
    assert all(g.dtype == torch.float32 for g in results[0])
    agree(*results, 5e-2)


def test_autocast_inside_compile():
    torch._dynamo.reset()
    tensors = operands(torch.float32)

    def attend(*x):
        with torch.autocast("cpu", torch.bfloat16):
            return ht.scaled_dot_product_attention(*x)

    compiled = torch.compile(attend, fullgraph=True, backend="aot_eager")
    assert compiled(*tensors).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        output = torch.ops.heed.sdpa(*tensors, None, 0.0, False, None, False, None)
    assert output.dtype == torch.bfloat16


# ---- tensors that are not their memory -----------------------------------------------------------


@BOTH_WAYS
def test_negated_views(attend):
    z = torch.randn(2, 3, 6, 8, dtype=torch.complex64)
    x = z.conj().imag
    assert x.is_neg()
    agree(attend(x, z.real, z.imag), expected(x, z.real, z.imag), 1e-5)
    agree(heed.attention(x, z.real, z.imag), expected(x, z.real, z.imag), 1e-5)
    mask = torch.randn(6, 6, dtype=torch.complex64).conj().imag
    agree(attend(x, x, x, attn_mask=mask), expected(x, x, x, attn_mask=mask), 1e-5)
    with pytest.raises(TypeError, match="read-only"):
        heed.attention(z.real, z.real, z.real, out=torch.empty_like(z).conj().imag)
    leaf = torch.randn(2, 3, 6, 8, dtype=torch.complex64, requires_grad=True)
    gradients = [
        torch.autograd.grad(f(leaf.conj().imag, z.real, z.imag).square().sum(), leaf)
        for f in (attend, expected)
    ]
    agree(*gradients, 1e-5)


@BOTH_WAYS
@pytest.mark.parametrize("make", [causal_upper_left, causal_lower_right])
@pytest.mark.parametrize("rows, keys", [(4, 6), (6, 6)])
def test_causal_bias(attend, make, rows, keys):
    q, k, v = draw(2, 3, rows, 5), draw(2, 3, keys, 5), draw(2, 3, keys, 5)
    mask = make(rows, keys)
    theirs = expected(q, k, v, attn_mask=mask._materialize())
    agree(attend(q, k, v, attn_mask=mask), theirs)
    agree(attend(q, k, v, mask), theirs)
    agree(ht.attention(q, k, v, mask=mask), theirs)
    with pytest.raises(TypeError, match="heed.causal"):
        heed.attention(q, k, v, mask=mask)
    with pytest.raises((RuntimeError, ValueError)):
        attend(q, k, v, attn_mask=mask, is_causal=True)


@BOTH_WAYS
@pytest.mark.parametrize(
    "mask",
    [
        torch.zeros(1, 1, dtype=torch.float64),
        torch.ones(4, 6, dtype=torch.int64),
        torch.zeros(4, 6, dtype=torch.float16),
    ],
    ids=["float64", "int64", "float16"],
)
def test_masks_of_other_dtypes(attend, mask):
    q, k, v = operands(torch.float32)
    with pytest.raises(RuntimeError):
        expected(q, k, v, attn_mask=mask)
    with pytest.raises(RuntimeError, match="mask"):
        attend(q, k, v, attn_mask=mask)
