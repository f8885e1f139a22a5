"""Writes tests/golden/*.safetensors and the table of them in tools/golden/README.md.

`make_goldens.py` writes; `make_goldens.py --check` only checks that the files are up to date.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors import safe_open

import attention
import convolution
import functions
import layers
import models
import optimisers
import recurrent
import safetensors_file
import schedules
import transformer
import translators
from golden import Golden

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / "tests" / "golden"
README = HERE / "README.md"
TABLE_START, TABLE_END = "<!-- table: written by make_goldens.py -->\n", "<!-- end of table -->\n"
GROUPS = {
    "Layers": layers,
    "Recurrent": recurrent,
    "Convolution and pooling": convolution,
    "Functions": functions,
    "Attention": attention,
    "Transformer layers": transformer,
    "Models": models,
    "Translators": translators,
    "Optimisers": optimisers,
    "Schedules": schedules,
}
IMPLIED = ("grad", "after.", "ema.")  # tensors whose shape follows from that of another
MAX_TOTAL_BYTES = 2_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    torch.set_num_threads(1)  # one order of summation

    files: dict[Path, bytes] = {}
    table = ""
    for title, group in GROUPS.items():
        goldens = list(group.goldens())
        for golden in goldens:
            path = FOLDER / f"{golden.name}.safetensors"
            assert path not in files, f"two goldens are called {golden.name}"
            assert_finite(golden)
            files[path] = safetensors_file.serialise(golden.tensors, golden.metadata)
        table += f"\n### {title}\n" + "".join(rows(goldens))
    total = sum(map(len, files.values()))
    assert total < MAX_TOTAL_BYTES, f"{total} bytes are too many to commit"
    before, _, rest = README.read_text().partition(TABLE_START)
    after = rest.partition(TABLE_END)[2]
    files[README] = (before + TABLE_START + table + "\n" + TABLE_END + after).encode()

    strays = set(FOLDER.glob("*.safetensors")) - files.keys()
    if check:
        return report_stale([p for p, b in files.items() if not same(p, b)] + sorted(strays))
    for path in strays:
        path.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        path.write_bytes(content)
    read_back(files)
    print(f"{len(files) - 1} files, {total} bytes in {FOLDER}")
    return 0


def assert_finite(golden: Golden) -> None:
    for name, tensor in golden.tensors.items():
        assert torch.isfinite(tensor).all(), f"{golden.name}: {name} is not finite"


def same(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


def report_stale(paths: list[Path]) -> int:
    for path in paths:
        print(f"out of date: {path}", file=sys.stderr)
    return 1 if paths else 0


def read_back(files: dict[Path, bytes]) -> None:
    """The official reader accepts every file."""
    for path in files:
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as file:
                for name in file.keys():
                    file.get_tensor(name)


def rows(goldens: list[Golden]) -> Iterator[str]:
    """One row per file; tensors with the shape of a listed input or parameter are left out."""
    yield "\n| file | tensors | metadata |\n|---|---|---|\n"
    for golden in goldens:
        named = {k: v for k, v in golden.tensors.items() if not k.startswith(IMPLIED)}
        shapes = ", ".join(describe(k, v) for k, v in named.items())
        metadata = ", ".join(f"{k}={v}" for k, v in golden.metadata.items())
        yield f"| {golden.name} | {shapes} | {metadata} |\n"


def describe(name: str, tensor: torch.Tensor) -> str:
    """`in.x` 3x7x17"""
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    kind = {torch.int64: " i64", torch.bool: " bool"}.get(tensor.dtype, "")
    return f"`{name}` {shape}{kind}"


if __name__ == "__main__":
    sys.exit(main())
