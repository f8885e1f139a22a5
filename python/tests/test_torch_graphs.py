"""heed inside graphs: torch.compile, torch.export, torch.jit.trace, make_fx, FakeTensors."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed  # noqa: E402
import heed.torch as ht  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_cases import (  # noqa: E402
    BOTH_WAYS,
    OPTIONS,
    a_mask,
    agree,
    draw,
    expected,
    operands,
    replaced,
    tracked,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# ---- tracers -------------------------------------------------------------------------------------


def operators(graph):
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


@BOTH_WAYS
def test_jit_trace(attend):
    tensors = operands(torch.float32)
    traced = torch.jit.trace(lambda *x: attend(*x, is_causal=True), tensors)
    others = [2 * x for x in tensors]
    agree(traced(*others), expected(*others, is_causal=True), 1e-5)
    assert "heed::sdpa" in str(traced.graph)


@BOTH_WAYS
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("pre_dispatch", [False, True])
def test_make_fx(attend, mode, pre_dispatch):
    tensors = operands()
    graph = make_fx(
        lambda *x: attend(*x, is_causal=True), tracing_mode=mode, pre_dispatch=pre_dispatch
    )(*tensors)
    assert any("heed.sdpa" in name for name in operators(graph.graph))
    others = [2 * x for x in tensors]
    agree(graph(*others), expected(*others, is_causal=True))


def test_make_fx_of_a_gradient():
    tensors = operands()
    graph = make_fx(torch.func.grad(lambda *x: replaced(*x).square().sum()))(*tensors)
    others = [2 * x for x in tensors]
    agree(graph(*others), torch.func.grad(lambda *x: expected(*x).square().sum())(*others))


class Model(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q * 2, k, v, **self.options).tanh()


@pytest.mark.parametrize("options", [OPTIONS[name] for name in ("plain", "causal", "bool")])
@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(options, dynamic):
    torch._dynamo.reset()
    model = Model(**options)
    results = []
    for ours in (True, False):
        tensors = tracked(*operands())
        if ours:
            compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=dynamic)
            with ht.replace_sdpa():
                output = compiled(*tensors)
        else:
            output = model(*tensors)
        results.append((output, *torch.autograd.grad(output.square().sum(), tensors)))
    agree(*results)


def test_compile_of_the_function():
    torch._dynamo.reset()
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(
        lambda *x: ht.scaled_dot_product_attention(*x, is_causal=True),
        fullgraph=True,
        backend=backend,
    )
    tensors = operands()
    agree(compiled(*tensors), expected(*tensors, is_causal=True))
    assert any("heed" in str(node.target) for node in graphs[0].graph.nodes)


def test_compile_with_dropout():
    torch._dynamo.reset()
    x = torch.ones(1, 1, 64, 8)
    compiled = torch.compile(
        lambda x: ht.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
        fullgraph=True,
        backend="aot_eager",
    )
    torch.manual_seed(3)
    first, second = compiled(x), compiled(x)
    torch.manual_seed(3)
    assert torch.equal(first, compiled(x))
    assert not torch.equal(first, second)


def test_compile_of_a_whole_layer():
    torch._dynamo.reset()
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    x = torch.randn(2, 9, 16)
    theirs = layer(x)
    with ht.replace_sdpa():
        ours = torch.compile(layer, fullgraph=True, backend="aot_eager")(x)
    agree(ours, theirs, 1e-5)


def test_compile_around_stages():
    """torch.compile does not look inside attention with stages, and runs it between two graphs."""
    torch._dynamo.reset()
    q, k, v = operands()
    compiled = torch.compile(
        lambda x: ht.attention(x + 1, k, v, mask=heed.causal()) * 2, backend="aot_eager"
    )
    agree(compiled(q), expected(q + 1, k, v, is_causal=True) * 2)


def test_compile_around_multihead_attention():
    torch._dynamo.reset()
    layer = ht.MultiheadAttention(16, 2, batch_first=True)
    x = torch.randn(2, 9, 16)
    output, weights = layer(x, x, x)
    compiled = torch.compile(lambda x: layer(x * 1, x, x), backend="aot_eager")(x)
    agree(compiled, (output, weights), 1e-6)


@pytest.mark.parametrize("strict", [True, False])
def test_export(strict):
    tensors = operands()
    with ht.replace_sdpa():
        program = torch.export.export(Model(is_causal=True), tensors, strict=strict)
    assert any("heed.sdpa" in name for name in operators(program.graph))
    assert not any("scaled_dot_product" in name for name in operators(program.graph))
    others = [2 * x for x in tensors]
    agree(program.module()(*others), Model(is_causal=True)(*others))


def test_opcheck():
    operator = torch.ops.heed.sdpa.default
    q, k, v = tracked(*operands(torch.float32))
    rows_outermost = draw(2, 4, 3, 5, dtype=torch.float32).transpose(1, 2).requires_grad_()
    (mask,) = tracked(draw(4, 6, dtype=torch.float32))
    seed = torch.tensor(7)
    for arguments in (
        (q, k, v, None, 0.0, False, None, False, None),
        (rows_outermost, k, v, None, 0.0, True, 0.5, False, None),
        (q, k, v, mask, 0.0, False, None, False, None),
        (q, k[:, :1], v[:, :1], None, 0.5, False, None, True, seed),
        (q[0], k[0], v[0], a_mask(), 0.0, False, None, False, None),
        (q[0, 0], k[0, 0], v[0, 0], None, 0.0, False, None, False, None),
    ):
        torch.library.opcheck(operator, arguments)


def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(2, 3, 4, 8)
        y = torch.empty(2, 3, 4, 16)
        assert replaced(x, x, y).shape == y.shape
