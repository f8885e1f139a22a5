"""What the tests of heed.torch have in common: both functions, operands and options."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import heed.torch as ht


def replaced(*tensors, **options):
    with ht.replace_sdpa():
        return F.scaled_dot_product_attention(*tensors, **options)


def expected(*tensors, **options):
    """PyTorch's attention, by its differentiable path."""
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(*tensors, **options)


BOTH_WAYS = pytest.mark.parametrize("attend", [ht.scaled_dot_product_attention, replaced])


def draw(*shape, dtype=torch.float64):
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def operands(dtype=torch.float64, heads=(3, 3)):
    torch.manual_seed(5)
    return (
        draw(2, heads[0], 4, 5, dtype=dtype),
        draw(2, heads[1], 6, 5, dtype=dtype),
        draw(2, heads[1], 6, 3, dtype=dtype),
    )


def tracked(*tensors):
    return tuple(x.detach().clone().requires_grad_() for x in tensors)


def a_mask():
    mask = torch.rand(3, 4, 6) > 0.4
    mask[1, 2] = False  # a query without visible keys
    return mask


torch.manual_seed(1)
OPTIONS = {
    "plain": {},
    "causal": {"is_causal": True},
    "scale": {"scale": 0.3},
    "bool": {"attn_mask": a_mask()},
    "float": {"attn_mask": draw(2, 1, 4, 6)},
}


def agree(ours, theirs, tolerance=1e-10):
    torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)
