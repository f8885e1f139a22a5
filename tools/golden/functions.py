"""Goldens of operations without parameters."""

import math
from collections.abc import Iterator

import torch
from torch.nn import functional as F

from golden import Golden, Random, differentiate

ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
}
POSITIVE_ONLY = ("log", "sqrt")


def goldens() -> Iterator[Golden]:
    yield from activations()
    yield from softmax()
    yield from cross_entropy()
    yield from matmul()
    yield from indexing()
    yield from selection()


def activations() -> Iterator[Golden]:
    for activation, function in ACTIVATIONS.items():
        name = f"activation_{activation}"
        x = Random(name).normal(3, 7, 17, scale=3.0)
        if activation in POSITIVE_ONLY:
            x = x.abs() + 1 / 1024
        else:
            x[0, 0, :9] = torch.tensor([0, 1 / 1024, -1 / 1024, 6, -6, 12, -12, 30, -30])
        yield differentiate(name, lambda x: function(x), {"x": x})


def softmax() -> Iterator[Golden]:
    for operation, function in {"softmax": F.softmax, "log_softmax": F.log_softmax}.items():
        for suffix, dim in {"": -1, "_dim1": 1}.items():
            name = operation + suffix
            x = Random(name).normal(3, 7, 17, scale=4.0)
            x[0, 0] += 100  # overflows unless the maximum is subtracted
            yield differentiate(name, lambda x: function(x, dim=dim), {"x": x}, None, {"dim": dim})
    # A score of -inf has weight 0 and gets no gradient.
    name = "softmax_masked"
    random = Random(name)
    x = random.normal(3, 7, 17)
    hidden = random.mask(3, 7, 17, share=0.3)
    hidden[:, :, 0] = False

    def forward(x, hidden):
        return F.softmax(x.masked_fill(hidden, -math.inf), dim=-1)

    yield differentiate(name, forward, {"x": x, "hidden": hidden}, None, {"dim": -1})


def cross_entropy() -> Iterator[Golden]:
    variants = {
        "": {},
        "_label_smoothing": {"label_smoothing": 0.1},
        "_ignore_index": {"ignore_index": -100},
        "_ignore_index_label_smoothing": {"ignore_index": 3, "label_smoothing": 0.1},
        "_ignore_index_label_smoothing_sum": {
            "ignore_index": 3,
            "label_smoothing": 0.1,
            "reduction": "sum",
        },
        "_label_smoothing_none": {"label_smoothing": 0.1, "reduction": "none"},
    }
    for suffix, options in variants.items():
        name = "cross_entropy" + suffix
        random = Random(name)
        inputs = {"logits": random.normal(13, 17, scale=2.0), "target": random.integers(17, 13)}
        if "ignore_index" in options:
            inputs["target"][[2, 5, 12]] = options["ignore_index"]

        def forward(logits, target):
            return F.cross_entropy(logits, target, **options)

        metadata = {"label_smoothing": 0.0, "reduction": "mean"} | options
        yield differentiate(name, forward, inputs, None, metadata)


def matmul() -> Iterator[Golden]:
    shapes = {
        "matmul": ((7, 17), (17, 5)),
        "matmul_batched": ((3, 7, 13), (3, 13, 5)),
        "matmul_broadcast": ((2, 1, 5, 7), (3, 7, 3)),
        "matmul_shared_right": ((2, 3, 5, 7), (7, 13)),
        "matmul_shared_left": ((5, 7), (3, 7, 13)),
        "matmul_transposed": ((2, 3, 5, 7), (2, 3, 11, 7)),  # y = a b^T, as queries times keys
    }
    for name, (left, right) in shapes.items():
        random = Random(name)
        transposed = name == "matmul_transposed"

        def forward(a, b):
            return a @ (b.mT if transposed else b)

        inputs = {"a": random.normal(*left), "b": random.normal(*right)}
        yield differentiate(name, forward, inputs, None, {"transpose_b": transposed})


def indexing() -> Iterator[Golden]:
    for suffix, dim in {"": -1, "_dim1": 1}.items():
        name = "cumsum" + suffix
        x = Random(name).normal(3, 7, 17)
        yield differentiate(name, lambda x: x.cumsum(dim), {"x": x}, None, {"dim": dim})

    for suffix, dim, shape in (("", -1, (3, 7, 5)), ("_dim1", 1, (3, 11, 17))):
        name = "gather" + suffix
        random = Random(name)
        inputs = {"x": random.normal(3, 7, 17), "index": random.integers((3, 7, 17)[dim], *shape)}

        def gather(x, index):
            return x.gather(dim, index)

        yield differentiate(name, gather, inputs, None, {"dim": dim})

    for suffix, dim, shape in (("", -1, (3, 7, 11)), ("_dim1", 1, (3, 13, 5))):
        name = "scatter_add" + suffix
        random = Random(name)
        inputs = {
            "x": random.normal(3, 7, 5),
            "index": random.integers((3, 7, 5)[dim], *shape),
            "source": random.normal(*shape),
        }

        def scatter_add(x, index, source):
            return x.scatter_add(dim, index, source)

        yield differentiate(name, scatter_add, inputs, None, {"dim": dim})


def selection() -> Iterator[Golden]:
    for name, a_shape, b_shape, mask_shape in (
        ("where", (3, 7, 17), (3, 7, 17), (3, 7, 17)),
        ("where_broadcast", (3, 1, 17), (7, 1), (7, 17)),
    ):
        random = Random(name)
        inputs = {
            "condition": random.mask(*mask_shape),
            "a": random.normal(*a_shape),
            "b": random.normal(*b_shape),
        }
        yield differentiate(name, lambda condition, a, b: torch.where(condition, a, b), inputs)

    for name, mask_shape in (("masked_fill", (3, 7, 17)), ("masked_fill_broadcast", (7, 1))):
        random = Random(name)
        inputs = {"x": random.normal(3, 7, 17), "mask": random.mask(*mask_shape)}
        value = -2.5

        def masked_fill(x, mask):
            return x.masked_fill(mask, value)

        yield differentiate(name, masked_fill, inputs, None, {"value": value})
