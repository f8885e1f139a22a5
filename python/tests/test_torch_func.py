"""heed inside torch.func: grad, vmap, jacrev, jacfwd, jvp, hessian."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed.torch as ht  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch_cases import BOTH_WAYS, OPTIONS, agree, draw, expected, operands, replaced  # noqa: E402


# ---- torch.func ----------------------------------------------------------------------------------


@BOTH_WAYS
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.grad(lambda *x: f(*x).square().sum(), (0, 1, 2)),
        lambda f: torch.func.jacrev(f, (0, 1, 2)),
        lambda f: torch.func.jacfwd(f, 1),
        lambda f: torch.func.hessian(lambda *x: f(*x).square().sum()),
        lambda f: torch.func.grad(
            lambda *x: torch.func.grad(lambda *y: f(*y).square().sum())(*x).square().sum(), 2
        ),
        lambda f: lambda *x: torch.func.vjp(f, *x)[1](f(*x)),
        lambda f: lambda *x: torch.func.jvp(f, x, x),
    ],
    ids=["grad", "jacrev", "jacfwd", "hessian", "grad of grad", "vjp", "jvp"],
)
def test_torch_func(attend, transform, options):
    tensors = operands()
    results = [
        transform(lambda *x, f=f: f(*x, **options))(*tensors) for f in (attend, expected)
    ]
    agree(*results)


@BOTH_WAYS
@pytest.mark.parametrize("dims", [(0, 0, 0), (0, None, None), (None, 1, 2), (3, 0, None)], ids=str)
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_vmap(attend, dims, rank):
    lead = (2, 3)[: rank - 2]
    tensors = []
    for shape, dim in zip(((*lead, 4, 5), (*lead, 6, 5), (*lead, 6, 3)), dims):
        x = draw(*shape) if dim is None else draw(7, *shape).movedim(0, min(dim, rank))
        tensors.append(x)
    dims = tuple(None if dim is None else min(dim, rank) for dim in dims)
    mask = draw(7, 4, 6)
    nested = draw(3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 3)
    learned = (0, 1, 2, 3)
    for function in (
        lambda f: torch.func.vmap(f, dims)(*tensors),
        lambda f: torch.func.vmap(lambda *x: f(*x[:3], attn_mask=x[3]), (*dims, 0))(*tensors, mask),
        lambda f: torch.func.vmap(
            torch.func.grad(lambda *x: f(*x[:3], attn_mask=x[3]).square().sum(), learned),
            (*dims, 0),
        )(*tensors, mask),
        lambda f: torch.func.grad(
            lambda *x: torch.func.vmap(f, dims)(*x).square().sum(), (0, 1, 2)
        )(*tensors),
        lambda f: torch.func.vmap(torch.func.vmap(f), (None, 0, 0))(*nested),
    ):
        agree(function(attend), function(expected))


def test_vmap_with_shared_heads():
    q, k, v = draw(5, 2, 4, 3, 8), draw(5, 2, 2, 6, 8), draw(2, 2, 6, 8)
    for dims, tensors in (((0, 0, None), (q, k, v)), ((None, 0, None), (q[0], k, v))):
        ours, theirs = (
            torch.func.vmap(lambda *x, f=f: f(*x, enable_gqa=True), dims)(*tensors)
            for f in (replaced, expected)
        )
        agree(ours, theirs)


def test_vmap_with_dropout():
    x = torch.ones(6, 2, 8, 4)

    def attend(x):
        return replaced(x, x, x, dropout_p=0.5)

    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(attend)(x)
    same = torch.func.vmap(attend, randomness="same")(x)
    assert all(torch.equal(same[0], y) for y in same)
    different = torch.func.vmap(attend, randomness="different")(x)
    assert not torch.equal(different[0], different[1])
    gradients = torch.func.vmap(
        torch.func.grad(lambda y: attend(y).sum()), randomness="different"
    )(x)
    assert gradients.shape == x.shape


def test_functional_calls_of_a_model():
    """Gradients of every sample, as torch.func's tutorial computes them."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).double()
    parameters = {name: p.detach() for name, p in layer.named_parameters()}
    x = draw(5, 1, 7, 8)

    def loss(parameters, x):
        return torch.func.functional_call(layer, parameters, (x,)).square().sum()

    samples = torch.func.vmap(torch.func.grad(loss), (None, 0))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = samples(parameters, x)
    with ht.replace_sdpa():
        ours = samples(parameters, x)
    agree(ours, theirs)
