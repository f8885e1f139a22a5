"""heed under PyTorch: the same numbers as torch.nn.functional.scaled_dot_product_attention."""

from __future__ import annotations

import itertools
import random
import threading

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: ./run parity installs it")

import heed  # noqa: E402
import heed.torch as ht  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2e-2, torch.float16: 2e-3}


def draw(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=torch.float64).to(dtype).requires_grad_()


def close(ours, theirs, tolerance):
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if ours.numel() == 0:
        return
    scale = max(1.0, theirs.abs().max().item())
    assert (ours.double() - theirs.double()).abs().max().item() <= tolerance * scale


def agree(tensors, **options):
    """Output and gradients of both functions on the same tensors."""
    mask = options.get("attn_mask")
    learned = [mask] if mask is not None and mask.requires_grad else []
    results = []
    for function in (F.scaled_dot_product_attention, ht.scaled_dot_product_attention):
        output = function(*tensors, **options)
        torch.manual_seed(7)
        gradient = torch.randn(output.shape, dtype=torch.float64).to(output.dtype)
        wanted = [*tensors, *learned]
        results.append((output, *torch.autograd.grad(output, wanted, gradient)))
    for theirs, ours in zip(*results):
        close(ours, theirs, TOLERANCE[tensors[0].dtype])


def random_case(seed):
    """A case of the grid: shapes, strides, masks, heads, scale and precision drawn together."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    dtype = rng.choice([torch.float32, torch.float32, torch.float64, torch.bfloat16])
    lead = rng.choice([(), (3,), (2, 4), (1, 6), (2, 3, 4)])
    queries, keys = rng.choice([1, 2, 5, 17, 33]), rng.choice([1, 3, 16, 40])
    features, values = rng.choice([1, 8, 19, 64]), rng.choice([1, 8, 24])
    options = {}
    key_lead = lead
    if len(lead) >= 2 and rng.random() < 0.3:
        key_lead = (*lead[:-1], 2 if lead[-1] % 2 == 0 else 1)
        options["enable_gqa"] = True
    elif lead and rng.random() < 0.2:
        key_lead = (1, *lead[1:])

    def operand(lead, rows, columns):
        if rng.random() < 0.3:  # rows outermost, as a projection leaves them
            x = torch.randn(rows, *lead, columns, dtype=torch.float64).to(dtype).movedim(0, -2)
        elif rng.random() < 0.3:  # a slice of something larger
            x = torch.randn(*lead, 2 * rows + 1, columns + 3, dtype=torch.float64).to(dtype)
            x = x[..., 1::2, 2 : 2 + columns]
        else:
            x = torch.randn(*lead, rows, columns, dtype=torch.float64).to(dtype)
        return x.requires_grad_()

    tensors = (
        operand(lead, queries, features),
        operand(key_lead, keys, features),
        operand(key_lead, keys, values),
    )
    if rng.random() < 0.3:
        options["scale"] = rng.choice([0.1, 1.0, -0.5])
    kind = rng.choice(["none", "causal", "bool", "float", "float"])
    if kind == "causal":
        options["is_causal"] = True
    elif kind != "none":
        full = (*lead, queries, keys)
        shape = [n if rng.random() < 0.6 else 1 for n in full][rng.choice([0, max(0, len(full) - 2)]) :]
        if kind == "bool":
            options["attn_mask"] = torch.rand(shape) > 0.3
        else:
            bias = torch.randn(shape, dtype=torch.float64).to(dtype)
            options["attn_mask"] = bias.requires_grad_() if rng.random() < 0.5 else bias
    return tensors, options


@pytest.mark.parametrize("seed", range(200))
def test_agrees_with_pytorch(seed):
    tensors, options = random_case(seed)
    agree(tensors, **options)


def test_a_query_that_may_look_nowhere_gets_nothing():
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[2] = False
    agree((draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)), attn_mask=mask)
    hidden = torch.zeros(5, 7).masked_fill(~mask, float("-inf"))
    agree((draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)), attn_mask=hidden)


def test_no_keys():
    output = ht.scaled_dot_product_attention(draw(2, 5, 8), draw(2, 0, 8), draw(2, 0, 8))
    assert output.shape == (2, 5, 8)
    assert not output.detach().abs().sum()


def test_half_comes_back_as_half():
    agree(tuple(draw(2, 3, 6, 8, dtype=torch.float16) for _ in range(3)))


def test_dropout_is_pytorchs_seed():
    x = draw(1, 1, 64, 8)
    torch.manual_seed(3)
    first = ht.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    second = ht.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    torch.manual_seed(3)
    again = ht.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert not ht.scaled_dot_product_attention(x, x, x, dropout_p=1.0).detach().abs().sum()


# ---- the graph ----


def test_gradients_reach_the_arrays_of_stages():
    q, k, v = draw(2, 4, 9, 8), draw(2, 4, 9, 8), draw(2, 4, 9, 8)
    bias = draw(4, 9, 9)
    keys, values = draw(7, 8), draw(7, 8)
    output = ht.attention(q, k, v, modifiers=[heed.dense_bias(bias), heed.shaw(keys, values)])
    theirs = plain_shaw(q, k, v, bias, keys, values)
    close(output, theirs, 1e-5)
    wanted = (q, k, v, bias, keys, values)
    for ours, expected in zip(
        torch.autograd.grad(output.square().sum(), wanted),
        torch.autograd.grad(theirs.square().sum(), wanted),
    ):
        close(ours, expected, 1e-5)


def plain_shaw(q, k, v, bias, keys, values):
    reach = keys.shape[0] // 2
    at = torch.arange(k.shape[-2])
    distance = (at[None, :] - at[:, None]).clamp(-reach, reach) + reach
    scores = q @ k.transpose(-1, -2) + torch.einsum("bhid,ijd->bhij", q, keys[distance])
    weights = (scores / q.shape[-1] ** 0.5 + bias).softmax(-1)
    return weights @ v + torch.einsum("bhij,ijd->bhid", weights, values[distance])


def test_the_log_sum_exp_is_differentiable():
    q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)
    output, lse = ht.attention(q, k, v, return_lse=True)
    theirs = (q @ k.transpose(-1, -2) / 8**0.5).logsumexp(-1)
    close(lse, theirs, 1e-5)
    ours = torch.autograd.grad((lse.square().sum() + output.sum()), (q, k))
    plain = F.scaled_dot_product_attention(q, k, v)
    for a, b in zip(ours, torch.autograd.grad(theirs.square().sum() + plain.sum(), (q, k))):
        close(a, b, 1e-5)


def test_weights_are_off_the_graph():
    q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)
    output, weights, scores = ht.attention(q, k, v, return_weights=True, return_scores="masked")
    assert output.requires_grad
    assert not weights.requires_grad
    assert not scores.requires_grad
    close(weights.sum(-1), torch.ones(2, 3, 5), 1e-6)


def test_the_graph_can_be_walked_twice():
    q, k, v = draw(2, 3, 5, 8), draw(2, 3, 7, 8), draw(2, 3, 7, 8)
    loss = ht.attention(q, k, v, mask=heed.causal(), dropout=0.2, seed=5).square().sum()
    first = torch.autograd.grad(loss, (q, k, v), retain_graph=True)
    second = torch.autograd.grad(loss, (q, k, v))
    assert all(torch.equal(a, b) for a, b in zip(first, second))


def test_writing_to_what_is_saved_is_found():
    for written in ("q", "output"):
        q, k, v = (draw(1, 1, 4, 8) * 1.0 for _ in range(3))
        output = ht.attention(q, k, v)
        loss = (output * 1.0).sum()
        with torch.no_grad():
            (q if written == "q" else output).mul_(2.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_only_what_is_needed_gets_a_gradient():
    q, k, v = draw(1, 1, 4, 8), draw(1, 1, 4, 8).detach(), draw(1, 1, 4, 8)
    ht.attention(q, k, v).sum().backward()
    assert q.grad is not None and v.grad is not None and k.grad is None


def test_past_keys_take_part_in_the_graph():
    q, k, v = draw(1, 2, 1, 8), draw(1, 2, 1, 8), draw(1, 2, 1, 8)
    past_k, past_v = draw(1, 2, 5, 8), draw(1, 2, 5, 8)
    output, keys, values = ht.attention(
        q, k, v, past_key=past_k, past_value=past_v, return_present=True
    )
    assert keys.shape == values.shape == (1, 2, 6, 8)
    expected = F.scaled_dot_product_attention(q, keys, values)
    close(output, expected, 1e-5)
    ours = torch.autograd.grad(output.square().sum(), (past_k, past_v))
    for a, b in zip(ours, torch.autograd.grad(expected.square().sum(), (past_k, past_v))):
        close(a, b, 1e-5)


def test_gradcheck():
    tensors = [draw(1, 2, 3, 4, dtype=torch.float64) for _ in range(3)]
    bias = draw(2, 3, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda q, k, v, b: ht.attention(q, k, v, modifiers=heed.dense_bias(b), mask=heed.causal()),
        (*tensors, bias),
    )


def test_no_copy_of_what_is_given():
    x = torch.randn(1, 1, 4, 8)
    out = torch.empty(1, 1, 4, 8)
    result = heed.attention(x, x, x, out=out)
    assert result is out
    close(out, F.scaled_dot_product_attention(x, x, x), 1e-5)


def test_heed_attention_takes_tensors_without_gradient():
    x = draw(1, 1, 4, 8)
    with pytest.raises(TypeError, match="heed.torch.attention"):
        heed.attention(x, x, x)
    with torch.no_grad():
        close(heed.attention(x, x, x), F.scaled_dot_product_attention(x, x, x), 1e-5)


# ---- errors ----


def test_no_gradient_is_lost_silently():
    q, k, v = (draw(1, 2, 3, 4).detach() for _ in range(3))
    table, bias = draw(1, 2, 1, 1), draw(1, 2, 3, 3)
    for option in ({"modifiers": heed.dense_bias(table)}, {"mask": bias}):
        with pytest.raises(TypeError, match="requires a gradient: use heed.torch.attention"):
            heed.attention(q, k, v, **option)
        with torch.no_grad():
            heed.attention(q, k, v, **option)
        ht.attention(q, k, v, **option).sum().backward()
    assert table.grad is not None and bias.grad is not None


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_tensor_of_one_element_is_learned(shape):
    q, k, v = (draw(1, 2, 3, 4).detach() for _ in range(3))
    for stage in (
        lambda x: {"modifiers": heed.temperature(x)},
        lambda x: {"score": heed.cosine_score(x)},
    ):
        parameter = torch.full(shape, 2.0, requires_grad=True)
        ht.attention(q, k, v, **stage(parameter)).square().sum().backward()
        assert parameter.grad.shape == shape and parameter.grad.abs().item() > 0


def test_numbers_that_require_a_gradient_are_refused():
    q, k, v = draw(1, 2, 3, 4), draw(1, 2, 3, 4), draw(1, 2, 3, 4)
    number = torch.tensor(0.3, requires_grad=True)
    for name in ("scale", "dropout"):
        with pytest.raises(TypeError, match=f"{name} requires a gradient"):
            ht.attention(q, k, v, **{name: number})
        with pytest.raises(TypeError, match=f"{name} requires a gradient"):
            heed.attention(q.detach(), k.detach(), v.detach(), **{name: number})
    close(
        ht.scaled_dot_product_attention(q, k, v, scale=number.detach()),
        F.scaled_dot_product_attention(q, k, v, scale=0.3),
        1e-5,
    )
    with torch.no_grad():
        ht.attention(q, k, v, scale=number)
    with pytest.raises(TypeError, match="cap: .*cannot be learned: give float"):
        heed.soft_cap(number)


def test_dropout_of_everything():
    x = draw(2, 3, 8)
    assert not F.scaled_dot_product_attention(x, x, x, dropout_p=1.0).any()
    assert not ht.scaled_dot_product_attention(x, x, x, dropout_p=1.0).any()
    theirs = torch.nn.MultiheadAttention(8, 2, dropout=1.0, batch_first=True)
    ours = ht.MultiheadAttention(8, 2, dropout=1.0, batch_first=True)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x, x, x)[0], theirs(x, x, x)[0])


def test_errors_are_pytorchs_kind():
    x, y = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 4, 9)
    for wrong in (
        lambda: ht.scaled_dot_product_attention(x, y, y),
        lambda: ht.scaled_dot_product_attention(x, x, x, torch.ones(4, 4), is_causal=True),
        lambda: ht.scaled_dot_product_attention(x, x.double(), x),
        lambda: ht.scaled_dot_product_attention(x[0, 0, 0], x[0, 0, 0], x[0, 0, 0]),
        lambda: ht.scaled_dot_product_attention(x, x, x, dropout_p=1.5),
        lambda: ht.scaled_dot_product_attention(x, x[:, :2], x[:, :2]),
    ):
        with pytest.raises(RuntimeError) as error:
            wrong()
        assert isinstance(error.value, heed.Error)


def test_other_devices_are_refused():
    x, meta = torch.randn(2, 4, 8), torch.randn(2, 4, 8, device="meta")
    with pytest.raises(TypeError, match="meta"):
        heed.attention(meta, x, x)


# ---- modules ----

CONFIGS = [
    {},
    {"kdim": 12, "vdim": 10},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"batch_first": True},
    {"bias": False},
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_multihead_attention(config, need_weights, average):
    torch.manual_seed(1)
    theirs = torch.nn.MultiheadAttention(32, 4, **config)
    ours = ht.MultiheadAttention(32, 4, **config)
    ours.load_state_dict(theirs.state_dict())
    assert list(ours.state_dict()) == list(theirs.state_dict())
    q, k, v = draw(5, 3, 32), draw(7, 3, config.get("kdim", 32)), draw(7, 3, config.get("vdim", 32))
    if config.get("batch_first"):
        q, k, v = (x.detach().transpose(0, 1).requires_grad_() for x in (q, k, v))
    padding = torch.zeros(3, 7, dtype=torch.bool)
    padding[0, 4:] = True
    hidden = torch.rand(5, 7) > 0.7
    hidden[:, 0] = False
    options = {"need_weights": need_weights, "average_attn_weights": average}
    for extra in ({}, {"key_padding_mask": padding, "attn_mask": hidden}):
        results = [m(q, k, v, **options, **extra) for m in (theirs, ours)]
        close(results[1][0], results[0][0], 1e-5)
        assert (results[0][1] is None) == (results[1][1] is None)
        if need_weights:
            close(results[1][1], results[0][1].detach(), 1e-5)
        gradients = [torch.autograd.grad(r[0].square().sum(), (q, k, v)) for r in results]
        for a, b in zip(gradients[1], gradients[0]):
            close(a, b, 1e-4)


def test_multihead_attention_without_a_batch():
    theirs, ours = torch.nn.MultiheadAttention(16, 2), ht.MultiheadAttention(16, 2)
    ours.load_state_dict(theirs.state_dict())
    q, k = torch.randn(5, 16), torch.randn(7, 16)
    for average in (True, False):
        expected = theirs(q, k, k, average_attn_weights=average)
        result = ours(q, k, k, average_attn_weights=average)
        close(result[0].detach(), expected[0].detach(), 1e-5)
        close(result[1], expected[1].detach(), 1e-5)


def test_training_follows_pytorch():
    """Ten steps of Adam on a small model take the same way."""
    losses = []
    for swap in (False, True):
        torch.manual_seed(2)
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 2)
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        x, y = torch.randn(4, 12, 32), torch.randn(4, 12, 32)
        run = []
        for _ in range(10):
            optimizer.zero_grad()
            if swap:
                with ht.replace_sdpa():
                    loss = (model(x) - y).square().mean()
            else:
                loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
            run.append(loss.item())
        losses.append(run)
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert losses[1][-1] < losses[1][0]


def test_threads_at_once():
    q, k, v = draw(2, 4, 65, 16), draw(2, 4, 65, 16), draw(2, 4, 65, 16)
    expected = torch.autograd.grad(ht.attention(q, k, v).square().sum(), (q, k, v))
    results = [None] * 6

    def work(i):
        loss = ht.attention(q, k, v).square().sum()
        results[i] = torch.autograd.grad(loss, (q, k, v))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert all(torch.equal(a, b) for a, b in itertools.zip_longest(result, expected))
