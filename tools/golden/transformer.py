"""Goldens of PyTorch's attention modules: nn.MultiheadAttention and the Transformer layers."""

from collections.abc import Iterator

import torch
from torch import nn

from golden import Golden, Random, Tensors, check_no_kink, differentiate, randomise

B, T, S, EMBED, HEADS, HIDDEN = 2, 5, 6, 12, 3, 20


def goldens() -> Iterator[Golden]:
    yield from multi_head()
    yield from encoder_layers()
    yield from decoder_layers()


def multi_head() -> Iterator[Golden]:
    """Includes the weights of each head and their mean; only the result has an upstream gradient."""
    yield multi_head_of("multi_head")
    yield multi_head_of("multi_head_no_bias", bias=False)
    yield multi_head_of("multi_head_cross", memory=EMBED)
    yield multi_head_of("multi_head_memory_size", memory=7, kdim=7, vdim=7)
    yield multi_head_of("multi_head_memory_size_no_bias", memory=7, kdim=7, vdim=7, bias=False)
    yield multi_head_of("multi_head_bias_kv", memory=EMBED, add_bias_kv=True)
    yield multi_head_of("multi_head_zero_attn", memory=EMBED, add_zero_attn=True)
    yield multi_head_of("multi_head_lengths", memory=EMBED, given=("lengths",))
    yield multi_head_of("multi_head_mask", memory=EMBED, given=("mask",))
    yield multi_head_of("multi_head_additive_mask", memory=EMBED, given=("bias",))
    yield multi_head_of("multi_head_causal", given=("causal",))
    everything = {"add_bias_kv": True, "add_zero_attn": True}
    yield multi_head_of("multi_head_all", given=("lengths", "causal"), **everything)


def multi_head_of(
    name: str, memory: int | None = None, given: tuple[str, ...] = (), **options: object
) -> Golden:
    """One module; `memory` is the size of the memory, if that is not x itself."""
    random = Random(name)
    module = randomise(nn.MultiheadAttention(EMBED, HEADS, batch_first=True, **options), random)
    inputs: Tensors = {"x": random.normal(B, T, EMBED)}
    if memory is not None:
        inputs["memory"] = random.normal(B, S, memory)
    keys = T if memory is None else S
    if "lengths" in given:
        inputs["lengths"] = torch.tensor([keys - 2, keys])
    if "mask" in given:
        inputs["mask"] = random.mask(T, keys, share=0.6)
        inputs["mask"][:, 0] = True  # PyTorch differs from heed for rows without visible keys
    if "bias" in given:
        inputs["bias"] = random.normal(T, keys)

    def forward(x, memory=None, lengths=None, mask=None, bias=None):
        source = x if memory is None else memory
        hidden = None if mask is None else ~mask
        if "causal" in given:
            hidden = future(T)
        options = {
            "key_padding_mask": None if lengths is None else padding(lengths, keys),
            "attn_mask": bias if bias is not None else hidden,
        }
        y, seen["mean_weights"] = module(x, source, source, **options)
        seen["weights"] = module(x, source, source, average_attn_weights=False, **options)[1]
        return y

    seen: Tensors = {}
    metadata = {"embed": EMBED, "heads": HEADS, "causal": "causal" in given} | options
    golden = differentiate(name, forward, inputs, module, metadata)
    golden.tensors |= {f"out.{k}": v.detach().float() for k, v in seen.items()}
    return golden


def padding(lengths: torch.Tensor, keys: int) -> torch.Tensor:
    """True after the end, as PyTorch's key_padding_mask requires."""
    return torch.arange(keys) >= lengths[:, None]


def future(length: int) -> torch.Tensor:
    """True above the diagonal, as PyTorch's attn_mask requires."""
    return torch.ones(length, length).triu(1).bool()


def layers(kind: str) -> Iterator[tuple[str, dict[str, object]]]:
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            name = f"{kind}_layer_{'pre' if norm_first else 'post'}_norm_{activation}"
            yield name, {"norm_first": norm_first, "activation": activation}


def encoder_layers() -> Iterator[Golden]:
    for name, options in layers("encoder"):
        random = Random(name)
        module = nn.TransformerEncoderLayer(
            EMBED, HEADS, HIDDEN, dropout=0.0, batch_first=True, **options
        )
        watch_kinks(randomise(module, random))
        inputs = {"x": random.normal(B, T, EMBED), "lengths": torch.tensor([T - 2, T])}

        def forward(x, lengths):
            return module(x, src_key_padding_mask=padding(lengths, T))

        yield differentiate(name, forward, inputs, module, options)


def decoder_layers() -> Iterator[Golden]:
    for name, options in layers("decoder"):
        random = Random(name)
        module = nn.TransformerDecoderLayer(
            EMBED, HEADS, HIDDEN, dropout=0.0, batch_first=True, **options
        )
        watch_kinks(randomise(module, random))
        inputs = {
            "x": random.normal(B, T, EMBED),
            "memory": random.normal(B, S, EMBED),
            "memory_lengths": torch.tensor([S, S - 3]),
        }

        def forward(x, memory, memory_lengths):
            return module(
                x,
                memory,
                tgt_mask=future(T),
                memory_key_padding_mask=padding(memory_lengths, S),
            )

        yield differentiate(name, forward, inputs, module, options)


def watch_kinks(module: nn.Module) -> None:
    """The ReLU of the feed-forward part must have no inputs near 0."""
    module.linear1.register_forward_hook(lambda _, __, output: check_no_kink(output.detach()))
