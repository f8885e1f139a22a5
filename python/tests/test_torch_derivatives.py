"""heed inside autograd, to any order, and in forward mode.

What heed does not compute itself is computed by PyTorch's operations or is an error; no number is
wrong.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed  # noqa: E402
import heed.torch as ht  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch_cases import (  # noqa: E402
    BOTH_WAYS,
    OPTIONS,
    agree,
    draw,
    expected,
    operands,
    replaced,
    tracked,
)


# ---- reverse mode --------------------------------------------------------------------------------


def second(attend, tensors, options):
    """The gradients of a gradient penalty."""
    tensors = tracked(*tensors)
    learned = list(tensors)
    options = dict(options)
    mask = options.get("attn_mask")
    if mask is not None and mask.is_floating_point():
        options["attn_mask"] = mask = tracked(mask)[0]
        learned.append(mask)
    output = attend(*tensors, **options)
    first = torch.autograd.grad(output.square().sum(), learned, create_graph=True)
    return torch.autograd.grad(sum(g.square().sum() for g in first), learned)


@BOTH_WAYS
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_second_derivatives(attend, options):
    agree(second(attend, operands(), options), second(expected, operands(), options))


@BOTH_WAYS
def test_second_derivatives_with_shared_heads(attend):
    tensors = operands(heads=(4, 2))
    options = {"enable_gqa": True}
    agree(second(attend, tensors, options), second(expected, tensors, options))


@pytest.mark.parametrize("dropout", [0.0, 0.4, 1.0])
def test_gradgradcheck(dropout):
    """Of dropout, too: the second derivative drops what the first has dropped."""

    def attend(*tensors):
        torch.manual_seed(3)
        return ht.scaled_dot_product_attention(*tensors, dropout_p=dropout)

    tensors = tracked(draw(1, 2, 3, 2), draw(1, 2, 4, 2), draw(1, 2, 4, 2))
    assert torch.autograd.gradcheck(attend, tensors)
    assert torch.autograd.gradgradcheck(attend, tensors)


def test_third_derivatives():
    results = []
    for attend in (replaced, expected):
        (q, k, v) = tracked(*operands())
        value = attend(q, k, v).square().sum()
        for _ in range(3):
            (gradient,) = torch.autograd.grad(value, q, create_graph=True)
            value = gradient.square().sum()
        results.append(gradient.detach())
    agree(*results)


@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian_of_autograd(vectorize):
    q, k, v = draw(1, 2, 3, 2), draw(1, 2, 4, 2), draw(1, 2, 4, 2)
    hessian = torch.autograd.functional.hessian
    results = [
        hessian(lambda x, f=f: f(x, k, v).square().sum(), q, vectorize=vectorize)
        for f in (replaced, expected)
    ]
    assert results[1].abs().max() > 0
    agree(*results)


@BOTH_WAYS
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_batched_gradients(attend, options):
    results = []
    batch = draw(7, 2, 3, 4, 3)
    for function in (attend, expected):
        tensors = tracked(*operands())
        output = function(*tensors, **options)
        results.append(torch.autograd.grad(output, tensors, batch, is_grads_batched=True))
    agree(*results)


def test_batched_gradients_of_dropout():
    q, k, v = tracked(*operands())
    output = ht.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    batch = torch.randn(5, *output.shape, dtype=torch.float64)
    kept = {"retain_graph": True}
    together = torch.autograd.grad(output, (q, k, v), batch, is_grads_batched=True, **kept)
    for i in range(5):
        alone = torch.autograd.grad(output, (q, k, v), batch[i], **kept)
        agree([g[i] for g in together], list(alone))


# ---- forward mode --------------------------------------------------------------------------------


@BOTH_WAYS
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_dual_numbers(attend, options):
    tensors = operands()
    results = []
    for function in (attend, expected):
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, x.cos()) for x in tensors]
            results.append(tuple(forward_ad.unpack_dual(function(*duals, **options))))
    assert results[0][1] is not None
    agree(*results)


def test_forward_over_reverse_with_dropout():
    q, k, v = operands()

    def attend(x):
        torch.manual_seed(3)
        return replaced(x, k, v, dropout_p=0.5)

    output, tangent = torch.func.jvp(attend, (q,), (q.cos(),))
    agree(output, attend(q))
    step = 1e-6
    agree(tangent, (attend(q + step * q.cos()) - attend(q - step * q.cos())) / (2 * step), 1e-6)


# ---- stages, which have first derivatives alone --------------------------------------------------


def test_second_derivatives_of_stages_are_an_error():
    q, k, v = tracked(*operands())
    output = ht.attention(q, k, v, modifiers=heed.soft_cap(5.0))
    (first,) = torch.autograd.grad(output.sum(), q, create_graph=True)
    with pytest.raises(ht.Error, match="no second derivative"):
        torch.autograd.grad(first.sum(), q, retain_graph=True, allow_unused=True)
    with pytest.raises(ht.Error, match="no second derivative"):
        torch.autograd.functional.hessian(
            lambda x: ht.attention(x, k, v, modifiers=heed.soft_cap(5.0)).sum(), q.detach()
        )
    q.grad = None
    ht.attention(q, k, v, modifiers=heed.soft_cap(5.0)).sum().backward(create_graph=True)
    assert q.grad is not None


def test_batched_gradients_of_stages_are_an_error():
    q, k, v = tracked(*operands())
    output = ht.attention(q, k, v, modifiers=heed.soft_cap(5.0))
    with pytest.raises(ht.Error, match="no batched gradients"):
        torch.autograd.grad(output, (q, k), torch.ones(3, *output.shape), is_grads_batched=True)


def test_stages_inside_transforms_are_an_error():
    q, k, v = operands()
    cap = {"modifiers": heed.soft_cap(5.0)}
    for call in (
        lambda: torch.func.vmap(lambda x: ht.attention(x, k, v, **cap))(q[None]),
        lambda: torch.func.grad(lambda x: ht.attention(x, k, v, mask=heed.causal()).sum())(q),
        lambda: torch.func.jvp(lambda x: ht.attention(x, k, v, return_lse=True), (q,), (q,)),
        lambda: make_fx(lambda x: ht.attention(x, k, v, score="dot"))(q),
    ):
        with pytest.raises(ht.Error, match="heed.torch.attention takes only"):
            call()
    mask = torch.ones(4, 6, dtype=torch.bool).tril()
    gradient = torch.func.grad(lambda x: ht.attention(x, k, v, mask=mask).square().sum())(q)
    agree(gradient, torch.func.grad(lambda x: expected(x, k, v, is_causal=True).square().sum())(q))


def test_heed_attention_says_where_it_cannot_read():
    q, k, v = operands()
    with pytest.raises(TypeError, match="heed.torch.scaled_dot_product_attention") as error:
        torch.func.vmap(lambda x: heed.attention(x, k, v))(q[None])
    assert "move it" not in str(error.value)
