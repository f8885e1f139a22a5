"""replace_sdpa: what it replaces, for how long, in which threads, and what it leaves to PyTorch."""

from __future__ import annotations

import threading

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed.torch as ht  # noqa: E402
from heed.torch import _attention, _replace  # noqa: E402
from torch.nn import functional as F  # noqa: E402

PYTORCHS = F.scaled_dot_product_attention


@pytest.fixture
def calls(monkeypatch):
    """The calls that reach heed."""
    seen = []
    kept = _attention.scaled_dot_product_attention

    def counted(*tensors, **options):
        seen.append(tensors)
        return kept(*tensors, **options)

    monkeypatch.setattr(_attention, "scaled_dot_product_attention", counted)
    return seen


def is_as_before():
    return F.scaled_dot_product_attention is PYTORCHS and torch.backends.mha.get_fastpath_enabled()


@pytest.mark.parametrize("training", [True, False])
def test_a_whole_model(training, calls):
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(training)
    x = torch.randn(2, 9, 32)
    padding = torch.zeros(2, 9, dtype=torch.bool)
    padding[0, 6:] = True
    with torch.set_grad_enabled(training):
        expected = model(x, src_key_padding_mask=padding)
        with ht.replace_sdpa():
            result = model(x, src_key_padding_mask=padding)
    assert len(calls) == 2
    torch.testing.assert_close(result[~padding], expected[~padding], atol=1e-5, rtol=1e-5)
    assert is_as_before()


def test_blocks_nest_and_end_by_exception():
    with pytest.raises(KeyError):
        with ht.replace_sdpa():
            with ht.replace_sdpa():
                assert F.scaled_dot_product_attention is _replace.dispatch
            assert F.scaled_dot_product_attention is _replace.dispatch
            assert not torch.backends.mha.get_fastpath_enabled()
            raise KeyError
    assert is_as_before()


def test_blocks_of_two_threads_overlap():
    """The first to enter is the first to leave."""
    entered, left = threading.Event(), threading.Event()

    def first():
        with ht.replace_sdpa():
            entered.set()
            inside.wait()
        left.set()

    inside = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    entered.wait()
    with ht.replace_sdpa():
        inside.set()
        left.wait()
        assert F.scaled_dot_product_attention is _replace.dispatch
        assert not torch.backends.mha.get_fastpath_enabled()
    thread.join()
    assert is_as_before()


def test_blocks_of_many_threads():
    x = torch.randn(1, 2, 5, 8)
    expected = F.scaled_dot_product_attention(x, x, x)
    failures = []

    def work():
        for _ in range(50):
            with ht.replace_sdpa():
                if F.scaled_dot_product_attention is not _replace.dispatch:
                    failures.append("not replaced")
                y = F.scaled_dot_product_attention(x, x, x)
            if not torch.allclose(y, expected, atol=1e-5):
                failures.append("wrong")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and is_as_before()


def test_the_fast_path_stays_off_if_it_was():
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with ht.replace_sdpa():
            pass
        assert not torch.backends.mha.get_fastpath_enabled()
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_what_others_put_in_place_stays(monkeypatch):
    """A function that replaced PyTorch's before is what heed leaves calls to, and comes back."""

    def theirs(*tensors, **options):
        return "theirs"

    monkeypatch.setattr(F, "scaled_dot_product_attention", theirs)
    x = torch.randn(1, 2, 4, 8, device="meta")
    with ht.replace_sdpa():
        assert F.scaled_dot_product_attention(x, x, x) == "theirs"
    assert F.scaled_dot_product_attention is theirs


def test_multihead_attention_replaces_for_its_own_thread_alone(calls):
    """While one thread runs heed's module, PyTorch's module of another thread is PyTorch's."""
    x = torch.randn(1, 2, 4, 8)
    inside = []

    class Watched(ht.MultiheadAttention):
        pass

    module = Watched(8, 2)
    kept = _replace.instead

    def other():
        F.scaled_dot_product_attention(x, x, x)
        inside.append(len(calls))

    def during(*tensors, **options):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return ht.scaled_dot_product_attention(*tensors, **options)

    with kept(during):
        F.scaled_dot_product_attention(x, x, x)
    assert inside == [0]
    module(x[0], x[0], x[0], need_weights=False)
    assert is_as_before()


# ---- what PyTorch computes -----------------------------------------------------------------------


def test_other_devices(calls):
    x = torch.randn(1, 2, 4, 8, device="meta")
    with ht.replace_sdpa():
        assert F.scaled_dot_product_attention(x, x, x).device.type == "meta"
    assert not calls


def test_nested_tensors(calls):
    parts = [torch.randn(2, n, 8) for n in (3, 5)]
    x = torch.nested.nested_tensor(parts)
    with ht.replace_sdpa():
        result = F.scaled_dot_product_attention(x, x, x)
    for part, y in zip(parts, result.unbind()):
        torch.testing.assert_close(y, F.scaled_dot_product_attention(part, part, part))
    assert not calls


def test_scripts():
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.scaled_dot_product_attention(x, x, x, is_causal=True)

    x = torch.randn(1, 2, 4, 8)
    with ht.replace_sdpa():
        scripted = torch.jit.script(Model())
        result = scripted(x)
    torch.testing.assert_close(result, Model()(x))


def test_counted_operations():
    """PyTorch counts none for its own kernel on the CPU; heed counts the matrix products."""
    from torch.utils.flop_counter import FlopCounterMode

    q, k, v = (torch.randn(2, 3, 4, 8, requires_grad=True) for _ in range(3))
    with FlopCounterMode(display=False) as counter, ht.replace_sdpa():
        F.scaled_dot_product_attention(q, k, v).sum().backward()
    product = 2 * (2 * 3) * 4 * 4 * 8
    assert counter.get_total_flops() == (2 + 5) * product


def test_modes_and_subclasses_see_the_call(calls):
    from torch.overrides import TorchFunctionMode

    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function is F.scaled_dot_product_attention)
            return function(*args, **(kwargs or {}))

    class Kind(torch.Tensor):
        pass

    x = torch.randn(1, 2, 4, 8)
    expected = F.scaled_dot_product_attention(x, x, x)
    with ht.replace_sdpa(), Mode():
        result = F.scaled_dot_product_attention(x, x, x)
    assert any(seen) and len(calls) == 1
    torch.testing.assert_close(result, expected)
    with ht.replace_sdpa():
        result = F.scaled_dot_product_attention(x.as_subclass(Kind), x, x)
    assert type(result) is Kind
    torch.testing.assert_close(result.as_subclass(torch.Tensor), expected)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 0, 4, 8), (2, 0, 6, 8), (2, 0, 6, 8)),
        ((2, 3, 4, 0), (2, 3, 6, 0), (2, 3, 6, 5)),
        ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 0)),
        ((0, 3, 4, 8), (0, 3, 6, 8), (0, 3, 6, 8)),
        ((2, 3, 0, 8), (2, 3, 6, 8), (2, 3, 6, 8)),
        ((2, 3, 4, 8), (2, 3, 0, 8), (2, 3, 0, 5)),
        ((0, 8), (3, 8), (3, 8)),
    ],
    ids=str,
)
@pytest.mark.parametrize("gqa", [False, True])
def test_empty_sizes(shapes, gqa):
    results = []
    for attend in (PYTORCHS, ht.scaled_dot_product_attention):
        tensors = [torch.ones(shape, requires_grad=True) for shape in shapes]
        output = attend(*tensors, enable_gqa=gqa)
        results.append((output, *torch.autograd.grad(output.sum(), tensors)))
    for theirs, ours in zip(*results):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


@pytest.mark.parametrize(
    "shape",
    [(), (1,), (2,), (6,), (1, 1), (4, 1), (1, 6), (5, 6), (2, 3, 4, 6), (1, 2, 3, 4, 6)],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.float64, torch.int64])
def test_masks_that_pytorch_refuses(shape, dtype):
    """A mask is refused where PyTorch refuses it, and read as PyTorch reads it."""
    q, k, v = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 6, 8), torch.randn(2, 3, 6, 8)
    mask = torch.ones(shape).to(dtype)
    try:
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    except (RuntimeError, IndexError):
        expected = None
    with ht.replace_sdpa():
        if expected is None:
            with pytest.raises((RuntimeError, IndexError)):
                F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            result = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            torch.testing.assert_close(result, expected)
