#!/usr/bin/env python3
"""`heed embed`, `fill` and `classify` on folders of Hugging Face: forms of output, search, pairs, bad input.

Usage: encoders_test.py HEED ROOT. The models are the small random ones of tests/golden/hf, with a tokenizer of words.
"""

import array
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEED, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
WORDS = "[PAD] [UNK] [MASK] [CLS] [SEP] a the dog cat runs sleeps".split()
TOKENIZER = {
    "added_tokens": [{"id": i, "content": word, "special": True} for i, word in enumerate(WORDS[:5])],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 3], "sep": ["[SEP]", 4]},
    "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
}
LINES = ["a dog runs", "the cat sleeps", "", "dog dog dog \"cat\"", "a\tcat"]
TEXT = "".join(line + "\n" for line in LINES)


def run(*arguments, given="", code=0):
    """Runs heed with some input to its end, which must be that; its output in bytes, and its messages."""
    done = subprocess.run([HEED, *map(str, arguments)], input=given.encode(), capture_output=True, check=False)
    said = done.stderr.decode(errors="replace")
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}, not {code}:\n{said}"
    return done.stdout, said


def close(a, b, error=1e-6):
    return len(a) == len(b) and all(math.isclose(x, y, abs_tol=error) for x, y in zip(a, b))


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def vectors_of(folder, *flags):
    """The vectors of the lines, and the lines, from JSON."""
    rows = [json.loads(line) for line in run("embed", "-m", folder / "bert", *flags, given=TEXT)[0].splitlines()]
    assert [row["text"] for row in rows] == LINES
    return [row["vector"] for row in rows]


def test_forms(folder):
    """All forms have the same numbers."""
    vectors = vectors_of(folder)
    assert all(len(vector) == 16 for vector in vectors) and vectors[0] != vectors[1]
    rows = [[float(x) for x in line.split("\t")]
            for line in run("embed", "-m", folder / "bert", "--format", "tsv", given=TEXT)[0].decode().splitlines()]
    assert rows == vectors, "the shortest texts of the same f32"
    raw = array.array("f", run("embed", "-m", folder / "bert", "--format=raw", given=TEXT)[0])
    assert raw == array.array("f", sum(vectors, []))
    run("embed", "-m", folder / "bert", "-o", folder / "x.npy", given=TEXT)
    content = (folder / "x.npy").read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00" and b"'shape': (5, 16)" in content[:128] and content[127:128] == b"\n"
    assert content[128:] == raw.tobytes()
    assert not run("embed", "-m", folder / "bert", given="")[0]


def test_options(folder):
    """Pooling, length, batches and prompts."""
    vectors = vectors_of(folder, "--pooling=first", "--normalize=true")
    assert all(math.isclose(sum(x * x for x in vector), 1.0, abs_tol=1e-5) for vector in vectors)
    assert not close(vectors[0], vectors_of(folder, "--normalize=true")[0], 1e-3)
    for flags in (["--window=1"], ["--batch-sentences=2"], ["--cpu-threads=1"]):
        for a, b in zip(vectors_of(folder, *flags), vectors_of(folder)):
            assert close(a, b, 1e-5), flags
    assert close(vectors_of(folder, "--max-source=3")[1],
                 json.loads(run("embed", "-m", folder / "bert", given="the\n")[0])["vector"], 1e-5)
    assert close(json.loads(run("embed", "-m", folder / "bert", "--prompt=a ", given="dog runs\n")[0])["vector"],
                 vectors_of(folder)[0], 1e-5)


def test_similarity(folder):
    """Cosines of all lines in their order, or the nearest lines."""
    vectors = vectors_of(folder)
    query = json.loads(run("embed", "-m", folder / "bert", given="the dog\n")[0])["vector"]
    expected = [cosine(query, vector) for vector in vectors]
    call = ["embed", "-m", folder / "bert", "--similarity", "the dog"]
    lines = run(*call, given=TEXT)[0].decode().splitlines()
    assert [line.split("\t", 1)[1] for line in lines] == LINES
    assert close([float(line.split("\t")[0]) for line in lines], expected, 1e-4)
    order = sorted(range(len(LINES)), key=lambda i: -expected[i])[:2]
    nearest = [line.split("\t", 1)[1] for line in run(*call, "--nearest=2", given=TEXT)[0].decode().splitlines()]
    assert nearest == [LINES[i] for i in order]
    rows = [json.loads(line) for line in run(*call, "-k", 2, "--format=jsonl", given=TEXT)[0].splitlines()]
    assert [row["line"] - 1 for row in rows] == order and {row["query"] for row in rows} == {"the dog"}
    (folder / "queries").write_text("the dog\na dog runs\n")
    call = ["embed", "-m", folder / "bert", "--similarity-file", folder / "queries"]
    both = run(*call, "-k", 1, given=TEXT)[0].decode().splitlines()
    assert [line.split("\t")[0] for line in both] == ["the dog", "a dog runs"]
    assert both[1].split("\t")[1:] == ["1.0000", "a dog runs"]
    assert close([float(x) for x in run(*call, given=TEXT)[0].decode().splitlines()[0].split("\t")[:2]],
                 [expected[0], 1.0], 1e-4)


def test_refusals(folder):
    """Flags and folders that do not fit."""
    call = ["embed", "-m", folder / "bert"]
    for flags, words in ((["--format=npy"], "--output"), (["--nearest=3"], "--similarity"),
                         (["--similarity=a", "--format=raw"], "tsv or jsonl"), (["--max-source=1"], "special tokens")):
        assert words in run(*call, *flags, given=TEXT, code=1)[1], flags
    assert "\"embed\"" in run("fill", "-m", folder / "bert", given=TEXT, code=1)[1]
    assert "absolute" in run("embed", "-m", folder / "odd", given=TEXT, code=1)[1]
    (folder / "bad").write_bytes(b"a dog\n\xff\n")
    run(*call, "-i", folder / "bad", "-o", folder / "bad.npy", code=1)
    assert not (folder / "bad.npy").exists(), "complete or not at all"


def test_fill(folder):
    """Texts and tokens in both forms."""
    given = "a [MASK] runs\nthe [MASK] [MASK]\n"
    lines = run("fill", "-m", folder / "masked", "--top-k=2", given=given)[0].decode().splitlines()
    rows = [json.loads(line)
            for line in run("fill", "-m", folder / "masked", "-k", 2, "--format=json", given=given)[0].splitlines()]
    assert [len(row["masks"]) for row in rows] == [1, 2]
    for line, row in zip(lines, rows):
        text, *masks = line.split("\t")
        assert text == row["text"]
        for mask, tokens in zip(masks, row["masks"], strict=True):
            assert mask == ", ".join(f"{t['token']} {t['probability']:.4f}" for t in tokens)
            assert len(tokens) == 2 and tokens[0]["probability"] >= tokens[1]["probability"]
    out, said = run("fill", "-m", folder / "masked", given="a [MASK]\nno mask\n", code=1)
    assert out.decode().count("\n") == 1 and "standard input:2 has no [MASK]" in said


def test_classify(folder):
    """Labels of the config, also of pairs."""
    call = ["classify", "-m", folder / "labels", "--all"]
    columns = run(*call, given="a dog runs\n")[0].decode().rstrip("\n").split("\t")
    assert sorted(columns[::2]) == ["negative", "neutral", "positive"]
    assert math.isclose(sum(map(float, columns[1::2])), 1.0, abs_tol=1e-3)
    pair = run(*call, "--pairs", given="a dog\truns\n")[0].decode().rstrip("\n").split("\t")
    assert pair != columns and sorted(pair[::2]) == sorted(columns[::2])
    assert "standard input:1 has no tab" in run(*call, "--pairs", given="a dog runs\n", code=1)[1]


def test_quantize(folder):
    """Weights in fewer bits, when loading and in a folder that was converted."""
    plain = vectors_of(folder)
    assert vectors_of(folder, "--quantize=none") == plain
    for form, least in (("bf16", 0.9999), ("int8", 0.99)):
        vectors = vectors_of(folder, "--quantize", form)
        assert vectors != plain and all(cosine(a, b) > least for a, b in zip(vectors, plain)), form
        own = folder / form
        run("convert", folder / "bert", "-o", own, "--quantize", form)
        assert json.loads((own / "config.json").read_text())["quantize"] == form
        for flags in ([], ["--quantize", form]):
            rows = run("embed", "-m", own, *flags, given=TEXT)[0].splitlines()
            assert [json.loads(row)["vector"] for row in rows] == vectors, "the same bits"
    assert "none,bf16,int8,int4" in run("embed", "-m", folder / "bert", "--quantize=int3", given=TEXT, code=2)[1]
    int8 = folder / "int8"
    assert "cannot become bf16" in run("embed", "-m", int8, "--quantize=bf16", given=TEXT, code=1)[1]
    for call in (["convert", int8, "-o", folder / "again"],
                 ["train", "--task=embed", "--start-from", int8, "--model", folder / "run",
                  "--train-sets", folder / "queries", folder / "queries"]):
        assert "take the model that it was converted from" in run(*call, code=1)[1], call
    assert "I8" in run("inspect", int8)[0].decode()
    run("export", int8, "-o", folder / "exported")
    rows = run("embed", "-m", folder / "exported", "--quantize=int8", given=TEXT)[0].splitlines()
    assert [json.loads(row)["vector"] for row in rows] == vectors_of(folder, "--quantize=int8")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        folders = {"bert": "bert", "masked": "bert_masked_lm", "labels": "bert_classifier", "odd": "bert"}
        for name, golden in folders.items():
            shutil.copytree(ROOT / "tests" / "golden" / "hf" / golden, folder / name)
            (folder / name / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        config = json.loads((folder / "odd" / "config.json").read_text())
        (folder / "odd" / "config.json").write_text(json.dumps(config | {"position_embedding_type": "relative_key"}))
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test(folder)
                print(f"{name}: ok")


main()
