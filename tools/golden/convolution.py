"""Goldens of convolutions and pooling."""

from collections.abc import Iterator

from torch import nn
from torch.nn import functional as F

from golden import Golden, Random, differentiate, randomise

CONV1D = {
    "conv1d": {},
    "conv1d_no_bias": {"bias": False},
    "conv1d_stride": {"stride": 2, "padding": 1},
    "conv1d_dilation": {"dilation": 3, "padding": 2},
    "conv1d_groups": {"groups": 2, "padding": 1},
    "conv1d_depthwise": {"groups": 6, "padding": 1},
    "conv1d_all": {"stride": 2, "padding": 4, "dilation": 2, "groups": 2},
}
CONV2D = {
    "conv2d": {},
    "conv2d_no_bias": {"bias": False},
    "conv2d_stride": {"stride": 2, "padding": 1},
    "conv2d_dilation": {"dilation": 2, "padding": 2},
    "conv2d_groups": {"groups": 2, "padding": 1},
    "conv2d_depthwise": {"groups": 4, "padding": 1},
    "conv2d_all": {"stride": (2, 1), "padding": (1, 3), "dilation": (1, 2), "groups": 2},
}
MAX_POOL = {
    "": {"kernel_size": 2},
    "_overlap": {"kernel_size": 3, "stride": 2, "padding": 1},
}
AVG_POOL = {
    "": {"kernel_size": 2},
    "_overlap": {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": True},
    "_exclude_pad": {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
}


def goldens() -> Iterator[Golden]:
    for name, options in CONV1D.items():
        random = Random(name)
        out_channels = 6 if options.get("groups", 1) > 1 else 5
        module = randomise(nn.Conv1d(6, out_channels, kernel_size=3, **options), random)
        x = random.normal(3, 6, 17)
        yield differentiate(name, lambda x: module(x), {"x": x}, module, conv_metadata(module))
    for name, options in CONV2D.items():
        random = Random(name)
        out_channels = 8 if options.get("groups", 1) > 1 else 5
        module = randomise(nn.Conv2d(4, out_channels, kernel_size=(3, 2), **options), random)
        x = random.normal(2, 4, 7, 9)
        yield differentiate(name, lambda x: module(x), {"x": x}, module, conv_metadata(module))
    yield from pooling("max", {"1d": F.max_pool1d, "2d": F.max_pool2d}, MAX_POOL)
    yield from pooling("avg", {"1d": F.avg_pool1d, "2d": F.avg_pool2d}, AVG_POOL)


def conv_metadata(module: nn.Conv1d | nn.Conv2d) -> dict[str, object]:
    names = ("kernel_size", "stride", "padding", "dilation", "groups")
    return {name: getattr(module, name) for name in names} | {"bias": module.bias is not None}


def pooling(kind: str, functions: dict, variants: dict) -> Iterator[Golden]:
    shapes = {"1d": (3, 5, 17), "2d": (2, 3, 7, 9)}
    for rank, function in functions.items():
        for suffix, options in variants.items():
            name = f"{kind}_pool{rank}{suffix}"
            x = Random(name).distinct(*shapes[rank])
            metadata = {"stride": options["kernel_size"], "padding": 0} | options
            yield differentiate(name, lambda x: function(x, **options), {"x": x}, None, metadata)
