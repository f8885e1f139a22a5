"""Goldens of GRU and LSTM: batch first, with and without initial state, packed lengths."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden import Golden, Random, differentiate, randomise

BATCH, TIME, INPUT = 4, 7, 5


@dataclass
class Variant:
    suffix: str
    layers: int = 1
    bidirectional: bool = False
    initial_state: bool = False
    lengths: tuple[int, ...] = ()

    @property
    def hidden(self) -> int:
        """One size wider and one narrower than a SIMD register; never a multiple of it."""
        return 13 if self.layers == 1 else 5


VARIANTS = [
    Variant(""),
    Variant("_initial_state", initial_state=True),
    Variant("_2_layers", layers=2),
    Variant("_2_layers_bidirectional", layers=2, bidirectional=True, initial_state=True),
    Variant("_lengths", initial_state=True, lengths=(3, 7, 1, 5)),
    Variant("_2_layers_bidirectional_lengths", 2, True, True, (3, 7, 1, 5)),
    # The longest sequence is shorter than the padded time axis.
    Variant("_lengths_short", lengths=(2, 5, 4, 1)),
]


def goldens() -> Iterator[Golden]:
    for variant in VARIANTS:
        yield gru(variant)
        yield lstm(variant)


def gru(variant: Variant) -> Golden:
    name = "gru" + variant.suffix
    random = Random(name)
    module = randomise(make(nn.GRU, variant), random)
    inputs = make_inputs(random, variant, ("h_0",))

    def forward(x, h_0=None, lengths=None):
        y, h_n = run(module, x, h_0, lengths)
        return {"y": y, "h_n": h_n}

    return differentiate(name, forward, inputs, module, metadata(variant))


def lstm(variant: Variant) -> Golden:
    name = "lstm" + variant.suffix
    random = Random(name)
    module = randomise(make(nn.LSTM, variant), random)
    inputs = make_inputs(random, variant, ("h_0", "c_0"))

    def forward(x, h_0=None, c_0=None, lengths=None):
        state = None if h_0 is None else (h_0, c_0)
        y, (h_n, c_n) = run(module, x, state, lengths)
        return {"y": y, "h_n": h_n, "c_n": c_n}

    return differentiate(name, forward, inputs, module, metadata(variant))


def make(kind: type[nn.RNNBase], variant: Variant) -> nn.RNNBase:
    return kind(
        INPUT,
        variant.hidden,
        num_layers=variant.layers,
        bidirectional=variant.bidirectional,
        batch_first=True,
    )


def make_inputs(random: Random, variant: Variant, states: tuple[str, ...]) -> dict:
    inputs = {"x": random.normal(BATCH, TIME, INPUT)}
    if variant.initial_state:
        rows = variant.layers * (2 if variant.bidirectional else 1)
        for state in states:
            inputs[state] = random.normal(rows, BATCH, variant.hidden, scale=0.5)
    if variant.lengths:
        inputs["lengths"] = torch.tensor(variant.lengths)
    return inputs


def run(module: nn.RNNBase, x: torch.Tensor, state, lengths: torch.Tensor | None):
    """Outputs after the end of a sequence are 0; the final state is that of its last real step."""
    if lengths is None:
        return module(x, state)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, final = module(packed, state)
    return pad_packed_sequence(y, batch_first=True, total_length=TIME)[0], final


def metadata(variant: Variant) -> dict[str, object]:
    return {
        "input_size": INPUT,
        "hidden_size": variant.hidden,
        "num_layers": variant.layers,
        "bidirectional": variant.bidirectional,
        "batch_first": True,
    }
