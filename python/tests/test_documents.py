"""Every Python block of the documents runs as it stands, those of one file one after another."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_BLOCKS = [path for path in FILES if BLOCK.search(path.read_text("utf-8"))]
HAS_TORCH = importlib.util.find_spec("torch") is not None


def blocks(path):
    text = path.read_text("utf-8")
    for found in BLOCK.finditer(text):
        yield text[: found.start()].count("\n") + 2, found[1]


@pytest.mark.parametrize("path", WITH_BLOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    skipped = 0
    for line, code in blocks(path):
        if "torch" in code and not HAS_TORCH:
            skipped += 1
            continue
        exec(compile("\n" * (line - 1) + code, str(path), "exec"), names)  # noqa: S102
    if skipped:
        print(f"{skipped} blocks of {path.name} want PyTorch: ./run parity runs them")


def test_both_languages_have_the_same_code():
    for path in WITH_BLOCKS:
        if path.name.endswith(".zh-CN.md"):
            continue
        twin = path.with_name(path.name[: -len(".md")] + ".zh-CN.md")
        ours, theirs = ([re.sub(r"#.*", "", code) for _, code in blocks(p)] for p in (path, twin))
        assert ours == theirs, f"{twin} has other code than {path.name}"
