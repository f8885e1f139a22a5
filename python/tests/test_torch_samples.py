"""PyTorch's own samples of scaled_dot_product_attention, as its tests use them.

They are part of its package, but importing them needs `expecttest`.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")
pytest.importorskip("expecttest", reason="expecttest is not installed: ./run parity installs it")

import heed.torch as ht  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

(INFO,) = [op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention"]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 2e-3}


def samples(dtype):
    torch.manual_seed(4)
    for sample in INFO.sample_inputs("cpu", dtype, requires_grad=True):
        if not sample.kwargs.get("dropout_p"):  # heed drops other weights than PyTorch
            yield (sample.input, *sample.args), sample.kwargs


def agree(ours, theirs, dtype):
    """Compared with the largest value.

    The samples' values go up to 9 and their scores up to hundreds, so that gradients in f32 are
    small differences of large terms.
    """
    for a, b in zip(ours, theirs):
        assert a.shape == b.shape and a.dtype == b.dtype
        scale = max(1.0, b.abs().max().item())
        assert (a.double() - b.double()).abs().max().item() <= TOLERANCE[dtype] * scale


def of_both(function):
    """The results of a function with PyTorch's attention and with heed's."""
    with sdpa_kernel(SDPBackend.MATH):
        theirs = function()
    with ht.replace_sdpa():
        return function(), theirs


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_values_and_gradients(dtype):
    for tensors, options in samples(dtype):

        def run():
            output = F.scaled_dot_product_attention(*tensors, **options)
            return (output, *torch.autograd.grad(output.float().square().sum(), tensors))

        agree(*of_both(run), dtype)


def test_gradients_by_differences():
    for tensors, options in samples(torch.float64):
        small = [x.detach()[..., :2, :2].clone().requires_grad_() for x in tensors]
        if "attn_mask" in options:
            options = {**options, "attn_mask": options["attn_mask"].detach()[:2, :2]}

        def run(*tensors):
            return F.scaled_dot_product_attention(*tensors, **options)

        with ht.replace_sdpa():
            assert torch.autograd.gradcheck(
                run, small, check_batched_grad=True, check_forward_ad=True, fast_mode=True
            )
            assert torch.autograd.gradgradcheck(run, small, fast_mode=True)


def test_transforms():
    for tensors, options in samples(torch.float64):
        given = [x.detach() for x in tensors]

        def attend(*tensors):
            return F.scaled_dot_product_attention(*tensors, **options)

        def run():
            batched = [torch.stack((x, 2 * x)) for x in given]
            jacobian = torch.func.jacrev(lambda x: attend(x, *given[1:]).sum(-1))(given[0])
            return torch.func.vmap(attend)(*batched), jacobian

        agree(*of_both(run), torch.float64)
