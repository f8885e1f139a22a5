"""Writes tests/golden/subword_nmt.json: the tokens that subword-nmt makes from some lines.

    python3 -m venv build/venv && build/venv/bin/pip install subword-nmt==0.3.8 && build/venv/bin/python tools/golden/bpe_lines.py

Each case has the text of a codes file, a vocabulary with counts and a threshold (or null), lines, and the tokens of
each line. The first cases are codes learned from a small text. The others are random, in an order that learning would
never give, so that every rule about the order of merges is tested.
"""

import io
import json
import random
import sys
from pathlib import Path

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

OUT = Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "subword_nmt.json"

TEXT = """the lowest tower is lower than the newest tower
a newer lower window shows the wide river and the widest road
der niedrigste Turm ist niedriger als der neueste Turm
größere Bäume wachsen an größeren Straßen
小 狗 在 小 河 边 看 小 鱼 ， 小狗 小河 小鱼
"""

LINES = TEXT.splitlines() + [
    "",
    "   ",
    "  two  spaces   between ",
    "lowlowlow wwwww xxx",
    "unseen Ωmega 狗🙂 naïve",
    "a b",
    "tab\there and\u00a0there",
    "literal</w> <unk> @@ end@@",
    "towertowertowertowertowertower",
]


def learned(merges: int) -> str:
    out = io.StringIO()
    stderr, sys.stderr = sys.stderr, io.StringIO()
    learn_bpe(io.StringIO(TEXT), out, merges, min_frequency=1)
    sys.stderr = stderr
    return out.getvalue()


def shuffled_codes(rng: random.Random, version: str) -> str:
    """Random merges over a small alphabet, in random order."""
    inner = ["a", "b", "c"]
    final = ["</w>"] if version == "0.1" else [c + "</w>" for c in inner]
    pairs = set()
    for _ in range(25):
        left, right = rng.choice(inner), rng.choice(inner + final)
        pairs.add((left, right))
        merged = left + right
        if len(merged) < 10:
            (final if merged.endswith("</w>") else inner).append(merged)
    order = sorted(pairs)
    rng.shuffle(order)
    header = "" if version == "0.1" else f"#version: {version}\n"
    return header + "".join(f"{a} {b}\n" for a, b in order)


def random_lines(rng: random.Random) -> list[str]:
    word = lambda: "".join(rng.choice("aaabbc") for _ in range(rng.randint(1, 12)))
    return [" ".join(word() for _ in range(4)) for _ in range(10)]


def counts(bpe: BPE, lines: list[str]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for line in lines:
        for token in bpe.segment(line).split(" "):
            if token:
                seen[token] = seen.get(token, 0) + 1
    return seen


def case(codes: str, lines: list[str], threshold: int | None = None) -> dict:
    vocabulary = None
    if threshold is not None:
        # Counted on half of the lines, so that some tokens are missing.
        vocabulary = counts(BPE(io.StringIO(codes)), lines[::2])
        for token in list("abctower") + [c + "@@" for c in "abctower"]:
            vocabulary.setdefault(token, 9)
    allowed = None if vocabulary is None else {w for w, n in vocabulary.items() if n >= threshold}
    bpe = BPE(io.StringIO(codes), vocab=allowed)
    tokens = [[t for t in bpe.segment(line).split(" ") if t] for line in lines]
    return {"codes": codes, "vocabulary": vocabulary, "threshold": threshold, "lines": lines, "tokens": tokens}


def main() -> None:
    cases = [case(learned(merges), LINES) for merges in (5, 40, 200)]
    cases.append(case(learned(60).replace("0.2", "0.2.0"), LINES, threshold=2))
    for seed in range(4):
        rng = random.Random(seed)
        cases.append(case(shuffled_codes(rng, "0.1"), random_lines(rng)))
        cases.append(case(shuffled_codes(rng, "0.2"), random_lines(rng)))
        cases.append(case(shuffled_codes(rng, "0.2"), random_lines(rng), threshold=2))
    rows = [json.dumps(c, ensure_ascii=False, separators=(",", ":")) for c in cases]
    OUT.write_text('{"cases": [\n' + ",\n".join(rows) + "\n]}\n", encoding="utf-8")
    print(f"{len(cases)} cases in {OUT}")


if __name__ == "__main__":
    main()
