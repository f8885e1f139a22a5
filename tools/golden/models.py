"""Goldens of whole models: their scores, all gradients, and ten steps of Adam.

Every step has its own batch, so inputs carry the step as their first axis. `out.scores` and `grad.`
belong to the first step, `after.` to the last one, and `out.loss` has all losses.
"""

import math
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F

from golden import Golden, Random, Tensors, described, randomise, stored
from transformer import future, padding, watch_kinks

STEPS, B, S, T = 10, 3, 6, 5
VOCABULARY, EMBED, HEADS, HIDDEN, LAYERS, CLASSES = 11, 8, 2, 12, 2, 4
PADDING, BEGIN, END, WORDS = 0, 1, 2, 3  # tokens from WORDS on are words
LABEL_SMOOTHING = 0.1
# The large eps keeps gradients that are 0 except for rounding (of the biases of keys) from becoming
# steps.
ADAM = {"lr": 5e-3, "betas": (0.9, 0.98), "eps": 1e-5}


def goldens() -> Iterator[Golden]:
    yield from transformers()
    yield language_model()
    yield classifier()


class Translator(nn.Module):
    """Vaswani et al. 2017 around nn.Transformer; embeddings and output are one matrix."""

    def __init__(self, norm_first: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, EMBED, padding_idx=PADDING)
        self.transformer = nn.Transformer(
            EMBED,
            HEADS,
            LAYERS,
            LAYERS,
            HIDDEN,
            dropout=0.0,
            batch_first=True,
            norm_first=norm_first,
        )
        self.generator = nn.Linear(EMBED, VOCABULARY, bias=False)
        self.generator.weight = self.embedding.weight

    def forward(self, source, lengths, target):
        hidden = padding(lengths, source.shape[1])
        y = self.transformer(
            embedded(self.embedding, source),
            embedded(self.embedding, target),
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
            tgt_mask=future(target.shape[1]),
        )
        return self.generator(y)


def embedded(embedding: nn.Embedding, ids: torch.Tensor) -> torch.Tensor:
    """Scaled by the root of the features, with sinusoidal positions."""
    features = torch.arange(0, EMBED, 2).double()
    angles = torch.arange(ids.shape[1]).double()[:, None] * 10000.0 ** (-features / EMBED)
    positions = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return embedding(ids) * math.sqrt(EMBED) + positions


def transformers() -> Iterator[Golden]:
    """Also yields the state dict of the first one under PyTorch's own names."""
    for norm in ("post", "pre"):
        name = f"transformer_{norm}_norm"
        random = Random(name)
        model = randomise(Translator(norm == "pre"), random)
        model.embedding.weight.data[PADDING] = 0.0
        for layer in [*model.transformer.encoder.layers, *model.transformer.decoder.layers]:
            watch_kinks(layer)
        if norm == "post":
            yield Golden("torch_transformer_state_dict", stored(model.state_dict()))
        inputs = sentence_pairs(random)
        yield train(name, model, inputs, {"norm_first": norm == "pre"} | ADAM)


def sentence_pairs(random: Random) -> Tensors:
    """Rows have different lengths; after their ends is padding, which does not count as a target."""
    lengths = random.integers(S - 1, STEPS, B) + 2
    words = random.integers(T - 1, STEPS, B) + 1
    source = WORDS + random.integers(VOCABULARY - WORDS, STEPS, B, S)
    source[torch.arange(S) >= lengths[..., None]] = PADDING
    written = WORDS + random.integers(VOCABULARY - WORDS, STEPS, B, T - 1)
    written[torch.arange(T - 1) >= words[..., None]] = PADDING
    begin = torch.full((STEPS, B, 1), BEGIN)
    expected = F.pad(written, (0, 1), value=PADDING).scatter(2, words[..., None], END)
    target = torch.cat([begin, written], dim=2)
    return {"source": source, "lengths": lengths, "target": target, "expected": expected}


class Gpt(nn.Module):
    """A GPT in nanoGPT's shape and under its names: pre-norm, exact GELU, no biases, tied."""

    def __init__(self) -> None:
        super().__init__()
        blocks = nn.ModuleList(GptBlock() for _ in range(LAYERS))
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(VOCABULARY, EMBED),
                "wpe": nn.Embedding(S + 2, EMBED),
                "h": blocks,
                "ln_f": nn.LayerNorm(EMBED, bias=False),
            }
        )
        self.lm_head = nn.Linear(EMBED, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, ids):
        x = self.transformer["wte"](ids) + self.transformer["wpe"](torch.arange(ids.shape[1]))
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))


class GptBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(EMBED, bias=False)
        self.attn = nn.ModuleDict(
            {
                "c_attn": nn.Linear(EMBED, 3 * EMBED, bias=False),
                "c_proj": nn.Linear(EMBED, EMBED, bias=False),
            }
        )
        self.ln_2 = nn.LayerNorm(EMBED, bias=False)
        self.mlp = nn.ModuleDict(
            {
                "c_fc": nn.Linear(EMBED, 4 * EMBED, bias=False),
                "c_proj": nn.Linear(4 * EMBED, EMBED, bias=False),
            }
        )

    def forward(self, x):
        heads = [
            part.unflatten(2, (HEADS, -1)).transpose(1, 2)
            for part in self.attn["c_attn"](self.ln_1(x)).split(EMBED, dim=2)
        ]
        seen = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.attn["c_proj"](seen.transpose(1, 2).flatten(2))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


def language_model() -> Golden:
    random = Random("language_model")
    model = randomise(Gpt(), random)
    ids = random.integers(VOCABULARY, STEPS, B, S + 1)
    inputs = {"ids": ids[..., :-1], "expected": ids[..., 1:]}
    return train("language_model", model, inputs, {"weight_decay": 0.1} | ADAM)


class TextClassifier(nn.Module):
    """The mean output of nn.TransformerEncoder for a text, mapped to scores of classes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, EMBED)
        layer = nn.TransformerEncoderLayer(
            EMBED, HEADS, HIDDEN, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(
            layer, LAYERS, norm=nn.LayerNorm(EMBED), enable_nested_tensor=False
        )
        self.scores = nn.Linear(EMBED, CLASSES)

    def forward(self, ids, lengths):
        hidden = padding(lengths, ids.shape[1])
        x = self.encoder(embedded(self.embedding, ids), src_key_padding_mask=hidden)
        total = x.masked_fill(hidden[..., None], 0.0).sum(dim=1)
        return self.scores(total / lengths[:, None])


def classifier() -> Golden:
    random = Random("classifier")
    model = randomise(TextClassifier(), random)
    inputs = {
        "ids": random.integers(VOCABULARY, STEPS, B, S),
        "lengths": random.integers(S, STEPS, B) + 1,
        "expected": random.integers(CLASSES, STEPS, B),
    }
    return train("classifier", model, inputs, dict(ADAM))


def train(name: str, model: nn.Module, inputs: Tensors, options: dict[str, object]) -> Golden:
    """Ten steps of Adam on the smoothed cross entropy; weight decay, if any, is AdamW's, for matrices only."""
    initial = {k: v.detach().clone() for k, v in model.named_parameters()}
    optimiser = adam(model, float(options.get("weight_decay", 0.0)))
    losses, first = [], {}
    for step in range(STEPS):
        batch = {k: v[step] for k, v in inputs.items() if k != "expected"}
        expected = inputs["expected"][step].flatten()
        ignored = {"ignore_index": PADDING} if "target" in inputs else {}
        optimiser.zero_grad()
        scores = model(**batch)
        loss = F.cross_entropy(
            scores.flatten(0, -2), expected, label_smoothing=LABEL_SMOOTHING, **ignored
        )
        loss.backward()
        losses.append(loss.detach())
        if step == 0:
            first = {"out.scores": scores.detach().clone()}
            first |= {f"grad.{k}": v.grad.clone() for k, v in model.named_parameters()}
        optimiser.step()

    tensors = {f"in.{k}": v.contiguous() for k, v in inputs.items()}
    tensors |= {f"param.{k}": v for k, v in initial.items()} | first
    tensors |= {"out.loss": torch.stack(losses)}
    tensors |= {f"after.{k}": v for k, v in model.named_parameters()}
    metadata = {"label_smoothing": LABEL_SMOOTHING} | options
    return Golden(name, stored(tensors), described(metadata))


def adam(model: nn.Module, decay: float) -> torch.optim.Optimizer:
    if decay == 0.0:
        return torch.optim.Adam(model.parameters(), **ADAM)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, **ADAM)
