"""heed from Python: the overhead of a call over the C++ call, and heed against PyTorch.

Run as: ./run bench python [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import heed
import heed.torch as ht
import numpy as np
import torch
from heed import _core
from torch.nn import functional as F


def best(function, seconds=0.3, runs=5):
    """The shortest time of a call, in seconds, over several rounds of as many calls as fit."""
    function()
    start = time.perf_counter()
    function()
    once = max(time.perf_counter() - start, 1e-7)
    calls = max(1, int(seconds / runs / once))
    rounds = []
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        rounds.append((time.perf_counter() - start) / calls)
    return min(rounds)


def best_of_each(functions, rounds=7, seconds=0.05):
    """The shortest time of each, measured in turn, so that a slow phase of the machine affects them all."""
    return [min(times) for times in zip(*([best(f, seconds, 1) for f in functions] for _ in range(rounds)))]


def import_time():
    """Import time of heed after NumPy: the best of five fresh interpreters."""
    code = "import numpy, time; t = time.perf_counter(); import heed; print(time.perf_counter() - t)"
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(5)
    )


def overhead():
    print("\nA call of heed.attention above the same call in C++ (one thread)\n")
    print(f"| {'q, k, v':<18} | {'array':<6} | {'C++':>8} | {'Python':>8} | {'above':>8} |")
    print("|---|---|---:|---:|---:|")
    heed.set_num_threads(1)
    for shape in ((1, 1, 1, 16), (1, 8, 1, 64), (1, 4, 16, 32)):
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        arrays = {"numpy": x, "torch": torch.from_numpy(x.copy())}
        for library, array in arrays.items():
            inside, outside = best_of_each(
                [lambda a=array: _core.repeat_attention(a, a, a, 200), lambda a=array: heed.attention(a, a, a)]
            )
            inside /= 200
            print(
                f"| {str(list(shape)):<18} | {library:<6} | {inside * 1e6:5.2f} us | "
                f"{outside * 1e6:5.2f} us | {(outside - inside) * 1e6:5.2f} us |"
            )


def cases(quick):
    causal = {"is_causal": True}
    yield "B 8, H 8, n 128, d 64", (8, 8, 128, 64), {}
    yield "B 2, H 8, n 512, d 64", (2, 8, 512, 64), {}
    yield "B 2, H 8, n 512, d 64, causal", (2, 8, 512, 64), causal
    if quick:
        return
    yield "B 1, H 8, n 2048, d 64", (1, 8, 2048, 64), {}
    yield "B 1, H 8, n 2048, d 64, causal", (1, 8, 2048, 64), causal
    mask = torch.rand(2, 1, 512, 512) > 0.2
    yield "B 2, H 8, n 512, d 64, bool mask", (2, 8, 512, 64), {"attn_mask": mask}
    bias = torch.randn(8, 512, 512)
    yield "B 2, H 8, n 512, d 64, float mask", (2, 8, 512, 64), {"attn_mask": bias}
    yield "B 2, H 8, n 512, d 64, dropout 0.1", (2, 8, 512, 64), {"dropout_p": 0.1}
    yield "B 1, H 8, n 512, d 64, bf16", (1, 8, 512, 64), {"dtype": torch.bfloat16}


def against_pytorch(threads, quick):
    heed.set_num_threads(threads)
    torch.set_num_threads(threads)
    print(f"\nscaled_dot_product_attention, {threads} thread{'s' * (threads > 1)}, f32 unless said\n")
    print("| case | PyTorch | heed | faster | with backward: PyTorch | heed | faster |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, shape, options in cases(quick):
        options = dict(options)
        dtype = options.pop("dtype", torch.float32)
        q, k, v = (torch.randn(shape).to(dtype).requires_grad_() for _ in range(3))
        d = torch.randn(shape).to(dtype)

        def forward(function):
            with torch.no_grad():
                function(q, k, v, **options)

        def both(function):
            torch.autograd.grad(function(q, k, v, **options), (q, k, v), d)

        functions = (F.scaled_dot_product_attention, ht.scaled_dot_product_attention)
        row = []
        for way in (forward, both):
            theirs, ours = best_of_each([lambda f=f, w=way: w(f) for f in functions])
            row += [f"{theirs * 1e3:.2f} ms", f"{ours * 1e3:.2f} ms", f"{theirs / ours:.2f}"]
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def small_calls():
    """Calls whose time is the way through Python: the ratio is heed's time over PyTorch's."""
    print("\nSmall calls of scaled_dot_product_attention (one thread)\n")
    print("| q, k, v | way | PyTorch | heed | heed / PyTorch |")
    print("|---|---|---:|---:|---:|")
    heed.set_num_threads(1)
    torch.set_num_threads(1)
    for shape in ((1, 1, 1, 16), (1, 4, 16, 32)):
        q, k, v = (torch.randn(shape).requires_grad_() for _ in range(3))
        d = torch.randn(shape)

        def without_gradient(function):
            with torch.no_grad():
                function(q, k, v)

        def backward(function):
            torch.autograd.grad(function(q, k, v), (q, k, v), d)

        ways = {
            "no_grad": without_gradient,
            "forward": lambda function: function(q, k, v),
            "forward and backward": backward,
        }
        functions = (F.scaled_dot_product_attention, ht.scaled_dot_product_attention)
        for name, way in ways.items():
            theirs, ours = best_of_each([lambda f=f, w=way: w(f) for f in functions])
            print(
                f"| {list(shape)} | {name} | {theirs * 1e6:.2f} us | {ours * 1e6:.2f} us | "
                f"{ours / theirs:.2f} |",
                flush=True,
            )


def whole_models(threads):
    """PyTorch's Transformer encoder, with and without replace_sdpa."""
    heed.set_num_threads(threads)
    torch.set_num_threads(threads)
    print(f"\nnn.TransformerEncoder, 2 layers of 256 features, {threads} thread{'s' * (threads > 1)}\n")
    print("| batch | way | PyTorch | heed | heed / PyTorch |")
    print("|---|---|---:|---:|---:|")
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2)
    x = torch.randn(8, 128, 256)
    padding = torch.arange(128) >= torch.linspace(64, 128, 8)[:, None]  # a quarter of all positions

    def infer(mask):
        with torch.no_grad():
            model(x, src_key_padding_mask=mask)

    def train(mask):
        model(x, src_key_padding_mask=mask).sum().backward()

    def replaced(way, mask):
        with ht.replace_sdpa():
            way(mask)

    for way, name in ((infer, "inference"), (train, "training")):
        model.train(way is train)
        for mask, batch in ((None, "8 x 128"), (padding, "8 x 128, a quarter is padding")):
            theirs, ours = best_of_each([lambda: way(mask), lambda: replaced(way, mask)])
            print(
                f"| {batch} | {name} | {theirs * 1e3:.2f} ms | {ours * 1e3:.2f} ms | {ours / theirs:.2f} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few cases only")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    arguments = parser.parse_args()
    print(f"heed {heed.__version__}, PyTorch {torch.__version__}, NumPy {np.__version__}")
    print(f"import heed: {import_time() * 1e3:.0f} ms after NumPy")
    overhead()
    small_calls()
    for threads in arguments.threads:
        against_pytorch(threads, arguments.quick)
        whole_models(threads)


if __name__ == "__main__":
    main()
