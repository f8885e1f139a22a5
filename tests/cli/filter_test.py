#!/usr/bin/env python3
"""`heed translate`, `generate` and `classify` as filters: order, streams, forms, bad input, early ends.

Usage: filter_test.py HEED. It trains three models for a few seconds; what they say is nonsense, how they say it is not.
"""

import gzip
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile

HEED = sys.argv[1]
SMALL = "--batch-tokens=500 --peak=0.01 --warmup=20 --disp-freq=1000".split()
TRANSLATOR = ("--vocabulary.kind=words --vocabulary.shared=false --transformer.tied=two --transformer.embed=16 "
              "--transformer.heads=2 --transformer.hidden=32 --encoder-layers=1 --decoder-layers=2 --after=80u").split()
LANGUAGE = ("--task=language --vocabulary.kind=characters --language-model.embed=16 --language-model.heads=2 "
            "--language-model.layers=1 --block-length=32 --after=60u").split()
CLASSIFIER = ("--task=classify --vocabulary.kind=words --classifier.embed=16 --classifier.heads=2 "
              "--classifier.hidden=32 --classifier.layers=1 --after=40u").split()


def run(*arguments, given="", code=0):
    """Runs heed with some input to its end, which must be that; its output and its messages."""
    given = given if isinstance(given, bytes) else given.encode()
    done = subprocess.run([HEED, *map(str, arguments)], input=given, capture_output=True, check=False)
    said = done.stderr.decode(errors="replace")
    assert done.returncode == code, f"heed {arguments} ended with {done.returncode}, not {code}:\n{said}"
    return done.stdout.decode(), said


def start(*arguments):
    """Starts heed to talk with it."""
    return subprocess.Popen([HEED, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def train(folder):
    """A translator of the grammar, with spaces between Chinese characters; a language model; a classifier."""
    run("corpus", "grammar", "-n", 300, "--held-out", 20, "--seed", 1, "-o", folder / "g")
    for name in ("g.zh", "g.test.zh"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text("\n".join(" ".join(line) for line in text.splitlines()) + "\n", encoding="utf-8")
    english = (folder / "g.en").read_text().splitlines()
    labelled = [f"{'question' if line.endswith('?') else 'statement'}\t{line[:-1]} {line[-1]}" for line in english]
    (folder / "labelled").write_text("\n".join(labelled) + "\n")
    sets = ["--train-sets", folder / "g.en", folder / "g.zh"]
    run("train", "--model", folder / "t", *sets, *SMALL, *TRANSLATOR)
    run("train", "--model", folder / "l", "--train-sets", folder / "g.en", *SMALL, *LANGUAGE)
    run("train", "--model", folder / "c", "--train-sets", folder / "labelled", *SMALL, *CLASSIFIER)


def same_output(a, b):
    """Whether two outputs have the same words; numbers may differ by the rounding of matrix products."""
    a, b = (re.split(r"[\s,]+", text) for text in (a, b))
    def is_same(x, y):
        return x == y or abs(float(x) - float(y)) < 1.1e-4
    return len(a) == len(b) and all(map(is_same, a, b))


def test_any_batch_gives_the_same_output(folder, sentences):
    """Whatever the window and the batches: for greedy, beam, n best and samples, with all columns."""
    text = "\n".join(sentences) + "\n"
    for flags in (["--beam-size=1"], ["--with-score", "--alignment=soft"],
                  ["--n-best=3", "--alignment=hard"],
                  ["--method=sample", "--top-k=20", "--top-p=0.9", "--temperature=0.8", "--seed=5", "--with-score"]):
        call = ["translate", "-m", folder / "t", *flags]
        expected, _ = run(*call, given=text)
        for size in (["--window=1"], ["--window=7"], ["--batch-sentences=3"], ["--batch-tokens=30"]):
            assert same_output(run(*call, *size, given=text)[0], expected), f"{flags} {size}"
        (folder / "in").write_text(text)
        run(*call, "-i", folder / "in", "-o", folder / "out")
        assert (folder / "out").read_text() == expected
    assert len(set(expected.splitlines())) > 5, "they must differ, or their order cannot be seen"


def test_streams(folder, sentences):
    """An answer comes before the next question is asked."""
    expected = run("translate", "-m", folder / "t", given="\n".join(sentences) + "\n")[0].splitlines()
    with start("translate", "-m", folder / "t") as process:
        for sentence, answer in zip(sentences, expected):
            process.stdin.write(f"{sentence}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == answer + "\n", sentence
        process.stdin.close()
        assert process.wait() == 0


def test_compressed_streams(folder):
    """All lines that have arrived are answered, also those that decompression holds back."""
    lines = [f"the dog sees {i} small trees and one big house" for i in range(3000)]
    expected = run("classify", "-m", folder / "c", given="\n".join(lines) + "\n")[0].splitlines()
    packed = gzip.compress(("\n".join(lines) + "\n").encode())
    with start("classify", "-m", folder / "c") as process:
        process.stdin.write(packed)
        process.stdin.flush()  # and stays open
        for answer in expected:
            assert same_output(process.stdout.readline().decode().rstrip("\n"), answer)
        process.stdin.close()
        assert process.wait() == 0


def test_byte_order_marks(folder):
    """One before the first line of the input changes nothing."""
    for model, verb in (("t", "translate"), ("c", "classify")):
        plain = run(verb, "-m", folder / model, given="Who sleeps?\n")[0]
        assert run(verb, "-m", folder / model, given="\ufeffWho sleeps?\n")[0] == plain, verb


def test_empty_lines(folder):
    """Nothing is translated as nothing, and a last line needs no end."""
    call = ["translate", "-m", folder / "t"]
    one = run(*call, given="Who sleeps?")[0]
    assert one.endswith("\n") and len(one) > 1
    assert run(*call, given="\n\nWho sleeps?\n \n")[0] == f"\n\n{one}\n"
    assert run(*call, given="")[0] == ""
    assert run(*call, "--with-score", "--alignment=hard", given="\n")[0] == "\t0.0000\t\n"


def test_forms(folder, sentences):
    """The n best as Moses writes them; alignments as Pharaoh does, and soft ones."""
    call = ["translate", "-m", folder / "t", "--alignment=hard"]
    plain = run("translate", "-m", folder / "t", given=sentences[0])[0].strip()
    lines = run(*call, "--n-best=3", given="\n".join(sentences[:2]))[0].splitlines()
    assert len(lines) == 6
    for i, line in enumerate(lines):
        match = re.fullmatch(r"(\d) \|\|\| (.*) \|\|\| logprob= (-\d+\.\d{4}) \|\|\| (-\d+\.\d{4}) \|\|\| ([-\d ]*)", line)
        assert match and int(match[1]) == i // 3, line
    assert lines[0].split(" ||| ")[1] == plain
    scores = [float(line.split(" ||| ")[3]) for line in lines[:3]]
    assert scores == sorted(scores, reverse=True)

    text, score, links = run(*call, "--with-score", given=sentences[0])[0].rstrip("\n").split("\t")
    assert text == plain and float(score) == scores[0]
    for link in links.split():
        source, target = map(int, link.split("-"))
        assert source < len(sentences[0].split()) and target < len(text.split()), link
    soft = run("translate", "-m", folder / "t", "--alignment=soft", given=sentences[0])[0].rstrip("\n").split("\t")[1]
    rows = [[float(w) for w in row.split(",")] for row in soft.split(" ")]
    assert len(rows) == len(text.split()) and {len(row) for row in rows} == {len(sentences[0].split())}
    assert all(0 < sum(row) < 1.001 for row in rows), "what is missing to 1 is at the end token"
    run(*call, "--alignment-layer=3", given="a", code=1)


def test_bad_lines(folder):
    """Broken UTF-8 is named with its line, and the lines before it are answered."""
    call = ["translate", "-m", folder / "t"]
    text = b"Who sleeps?\nWho \xff sleeps?\nWho sleeps?\n"
    good = run(*call, given="Who sleeps?")[0]
    out, said = run(*call, given=text, code=1)
    assert out == good and "standard input:2 has broken UTF-8 at byte 5 (0xFF)" in said, said
    out, said = run(*call, "--on-bad=skip", given=text)
    assert out == good + "\n" + good and "1 with broken UTF-8 (first: standard input:2)" in said, said
    out, said = run(*call, "--on-bad=mend", given=text)
    assert out.splitlines()[1] != "" and "broken UTF-8" in said
    assert "NUL" in run(*call, given=b"a\0b\n", code=1)[1]
    run(*call, "--on-bad=ignore", code=2)
    (folder / "in").write_bytes(text)
    run(*call, "-i", folder / "in", "-o", folder / "none", code=1)
    assert not (folder / "none").exists(), "a file that is not whole does not appear"


def test_long_sentences(folder):
    """They are cut and that is said, or what the flag says."""
    call = ["translate", "-m", folder / "t", "--max-source=3"]
    text = "Who sleeps ?\nWho sleeps ? Who sleeps ?\n"
    out, said = run(*call, given=text)
    assert out.splitlines()[0] == out.splitlines()[1], "cut after the third word"
    assert "standard input:2 has 6 tokens: only the first 3 are translated" in said
    out, said = run(*call, "--on-long=skip", given=text)
    assert out.splitlines()[1] == "" and "an empty line stands for it" in said
    assert "more than 3" in run(*call, "--on-long=stop", given=text, code=1)[1]


def test_prefixes_and_languages(folder, sentences):
    """Translations begin with the text given for all lines, or for each; this model has no languages to choose from."""
    call = ["translate", "-m", folder / "t"]
    two = "\n".join(sentences[:2]) + "\n"
    plain = run(*call, given=two)[0].splitlines()
    word = plain[0].split()[-1]
    assert not plain[0].startswith(word)
    out = run(*call, "--prefix", f"{word} {word}", given=two)[0].splitlines()
    assert len(out) == 2 and all(line.startswith(f"{word} {word}") for line in out), out
    out = run(*call, "--prefix-column", given=f"{sentences[0]}\t{word}\n{sentences[1]}\n")[0].splitlines()
    assert out[0].startswith(word) and out[1] == plain[1], out
    run(*call, "--prefix-column", "--prefix=a", code=2)
    out, said = run(*call, "--list-languages")
    assert out == "" and "no languages" in said
    assert "writes one language" in run(*call, "--target-language=fr", given=two, code=1)[1]


def test_closed_pipe(folder, sentences):
    """Whoever has read enough may go: no message, and no file half done."""
    with start("translate", "-m", folder / "t", "--window=1", "--attention-out", folder / "w.json") as process:
        process.stdin.write(f"{sentences[0]}\n".encode())
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write("\n".join(sentences).encode())
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE
    assert not list(folder.glob("w.json")) and not list(folder.glob(".heed*"))


def wait_for_output(process, folder):
    """Until the program has opened its output, which has no name yet, or a temporary one."""
    def is_open():
        try:
            targets = [os.readlink(fd) for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
        except OSError:  # a descriptor was closed meanwhile
            return False
        return any(target.startswith(f"{folder}/#") for target in targets)

    while not is_open() and not list(folder.glob(".heed*")):
        assert process.poll() is None


def test_interrupt(folder, sentences):
    """Ctrl-C ends it at once, also where it waits, and leaves nothing behind."""
    with start("translate", "-m", folder / "t", "-o", folder / "none", "--attention-out",
               folder / "w.safetensors") as process:
        process.stdin.write(f"{sentences[0]}\n".encode())
        process.stdin.flush()
        wait_for_output(process, folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
        process.stdin.close()
    assert not (folder / "none").exists() and not list(folder.glob(".heed*"))


def test_interrupt_in_a_long_search(folder, sentences):
    """A signal is seen inside a search that would not end, and inside a batch."""
    endless = ["--min-length=20000", "--max-length=20000", "--max-length-ratio=1e9"]
    huge = f"--max-length={2**63 - 1}"
    for flags in (["translate", "-m", folder / "t", *endless], ["translate", "-m", folder / "t", *endless, "--beam-size=1"],
                  ["translate", "-m", folder / "t", *endless, "--method=sample", "--n-best=50"],
                  ["generate", "-m", folder / "l", huge], ["generate", "-m", folder / "l", huge, "--method=beam"],
                  ["generate", "-m", folder / "l", huge, "--samples=50"],
                  ["generate", "-m", folder / "l", huge, "--method=beam", "--beam-size=7"]):
        for number in (signal.SIGINT, signal.SIGTERM):
            with start(*flags, "-o", folder / "none") as process:
                process.stdin.write("\n".join(sentences).encode())
                process.stdin.close()
                wait_for_output(process, folder)
                process.send_signal(number)
                assert process.wait() == -number, flags
            assert not (folder / "none").exists() and not list(folder.glob(".heed*")), flags


def test_attention_out(folder, sentences):
    """All weights of every sentence, with the tokens they are between."""
    text = "\n".join([sentences[0], "", sentences[1]])
    for name in ("w.json", "w.safetensors"):
        run("translate", "-m", folder / "t", "--attention-out", folder / name, given=text)
    seen = json.loads((folder / "w.json").read_text(encoding="utf-8"))["sentences"]
    assert [s["number"] for s in seen] == [0, 1, 2] and seen[1]["cross"] is None
    for sentence in (seen[0], seen[2]):
        cross = sentence["cross"]
        assert len(cross) == 2 and len(cross[0]) == 2, "layers, heads"
        assert len(cross[0][0]) == len(sentence["target"]) == len(sentence["target_read"])
        assert len(cross[0][0][0]) == len(sentence["source"])
        assert all(abs(sum(row) - 1) < 1e-4 for head in sentence["encoder"][0] for row in head)
    data = (folder / "w.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    assert json.loads(header["__metadata__"]["2"])["source"] == seen[2]["source"]
    begin, _ = header["2.cross"]["data_offsets"]
    assert struct.unpack_from("<f", data, 8 + size + begin)[0] == struct.unpack("<f", struct.pack("<f", seen[2]["cross"][0][0][0][0]))[0]
    run("translate", "-m", folder / "t", "--attention-out", folder / "w.txt", given=text, code=1)


def test_generate(folder):
    """Texts begin with their prompts, depend on the seed alone, and come as they are made."""
    call = ["generate", "-m", folder / "l", "--max-length=300"]
    text = run(*call, "--prompt=Who ")[0]
    assert text.startswith("Who ") and len(text) == 4 + 300 + 1, "longer than the model's 256 positions"
    assert run(*call, "--prompt=Who ")[0] == text
    assert run(*call, "--prompt=Who ", "--seed=2")[0] != text
    assert len(run(*call)[0]) == 301, "no prompt is needed"
    greedy = run(*call, "--method=beam", "--prompt=Who ")[0]
    assert greedy != text and greedy.startswith("Who ")
    three = run(*call, "--prompt=Who ", "--samples=3", "--separator====")[0].split("\n===\n")
    assert len(three) == 3 and text.rstrip("\n") in [t.rstrip("\n") for t in three]
    (folder / "in").write_text("Who \nOur \n")
    both = run(*call, "-i", folder / "in")[0].split("\n---------------\n")
    assert both[0] + "\n" == text and both[1].startswith("Our ")
    run(*call, "--prompt=a", "-i", folder / "in", code=2)
    run("generate", "-m", folder / "t", code=1)
    with start("generate", "-m", folder / "l", "--max-length=100000000", "--prompt=Who ") as process:
        assert process.stdout.read(200).startswith(b"Who "), "the end would be long in coming"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE


def test_generate_stops(folder):
    """Stop strings end texts, whatever is between commas; JSON says how texts ended."""
    call = ["generate", "-m", folder / "l", "--max-length=100", "--prompt=Who "]
    text = run(*call)[0].rstrip("\n")[4:]
    stop = text[20:22]
    cut = text[:text.index(stop)]
    assert run(*call, "--stop", stop)[0] == f"Who {cut}\n"
    assert run(*call, "--stop=,never", "--stop", stop)[0] == f"Who {cut}\n"
    assert run(*call, f"--stop={stop}", "-o", folder / "out")[0] == ""
    assert (folder / "out").read_text() == f"Who {cut}\n"
    found = json.loads(run(*call, "--stop", stop, "--format=json")[0])
    assert found["prompt"] == "Who " and found["text"] == cut and found["finish"] == "stop"
    lines = [json.loads(line) for line in run(*call, "--samples=3", "--format=json")[0].splitlines()]
    assert len(lines) == 3 and all(line["finish"] == "length" and len(line["tokens"]) == 100 for line in lines)
    assert text in [line["text"] for line in lines] and all(line["log_probability"] < 0 for line in lines)
    assert run(*call, "--ignore-end")[0] == f"Who {text}\n", "the model ends no texts"
    run(*call, "--stop=", code=2)


def test_chat_needs_a_template(folder):
    """A model without chat template is refused before anything is read."""
    for flags in ([], ["--prompt=Hello"], ["--system=Be kind."]):
        text, error = run("generate", "-m", folder / "l", "--chat", *flags, code=1)
        assert text == "" and "no chat template" in error
    run("generate", "-m", folder / "l", "--system=Be kind.", code=2)


def test_numbers_out_of_range(folder):
    """An error names the flag and the range; none is taken for another number, or for a bug."""
    huge = 2**63 - 1
    cases = [("generate", "l", f"--temperature={t}", "from 1e-30 to 1e\\+30") for t in ("1e-39", "0", "1e39", "-1")]
    cases += [("generate", "l", f"{flag}={n}", "1 to 1000") for flag in ("--beam-size", "--samples") for n in (0, huge)]
    cases += [("translate", "t", f"{flag}={n}", "1 to 1000") for flag in ("--beam-size", "--n-best") for n in (0, huge)]
    cases += [(verb, model, f"--cpu-threads={n}", "0 to 1024") for verb, model in
              (("generate", "l"), ("translate", "t"), ("classify", "c")) for n in (-1, 1025, 2**32 + 1, huge)]
    cases += [("translate", "t", f"{flag}={huge}", "1 to") for flag in ("--batch-tokens", "--batch-sentences")]
    cases += [("classify", "c", f"{flag}={huge}", "1 to") for flag in ("--batch-tokens", "--batch-sentences")]
    for verb, model, flag, allowed in cases:
        done = subprocess.run([HEED, verb, "-m", folder / model, flag], input=b"a\n", capture_output=True, check=False)
        said = done.stderr.decode()
        name = flag.partition("=")[0].strip("-")
        assert done.returncode in (1, 2) and done.stdout == b"", f"{verb} {flag}: {done}"
        assert re.search(f"{name}|{name.replace('-', '_')}", said) and re.search(allowed, said), f"{verb} {flag}: {said}"
        assert "bug" not in said
    assert len(run("generate", "-m", folder / "l", "--temperature=1e-30", "--max-length=9")[0]) == 10
    run("translate", "-m", folder / "t", f"--max-length={huge}", given="Who sleeps?")


def test_shortlist(folder, sentences):
    """A list made from the training text: most translations stay, none depends on its company, mistakes are named."""
    made, _ = run("shortlist", "-m", folder / "t", folder / "g.en", folder / "g.zh", "-o", folder / "list")
    assert re.search(r"list: \d+ translations of \d+ of \d+ source tokens, from 300 pairs", made), made
    assert all(re.fullmatch(r"\S+ \S+ [\d.e-]+", line) for line in (folder / "list").read_text().splitlines())
    text = "\n".join(sentences) + "\n"
    plain = run("translate", "-m", folder / "t", given=text)[0].splitlines()
    short = ["translate", "-m", folder / "t", "--shortlist", folder / "list"]
    found = run(*short, given=text)[0].splitlines()
    assert sum(a == b for a, b in zip(plain, found)) >= 0.8 * len(plain), (plain, found)
    assert run(*short, "--window=1", "--cpu-threads=1", given=text)[0].splitlines() == found
    # One translation per token, nothing else: not the same any more.
    few = run(*short, "--shortlist-best=1", "--shortlist-common=0", given=text)[0].splitlines()
    assert len(few) == len(plain) and few != plain
    assert "--shortlist" in run("translate", "-m", folder / "t", "--shortlist-best=1", code=2)[1]
    (folder / "other").write_text("Hund dog 1\n")
    assert "other:1: '" in run(*short[:-1], folder / "other", given=text, code=1)[1]


def test_classify(folder):
    """A label and its probability for each line, in order."""
    text = "Who sleeps ?\n\nOur colleague went to Paris .\n"
    lines = run("classify", "-m", folder / "c", given=text)[0].splitlines()
    assert len(lines) == 3 and all(re.fullmatch(r"(question|statement)\t[01]\.\d{4}", line) for line in lines)
    assert lines[0].startswith("question") and lines[2].startswith("statement"), lines
    assert run("classify", "-m", folder / "c", "--window=1", given=text)[0].splitlines() == lines
    first = run("classify", "-m", folder / "c", "--all", given=text)[0].splitlines()[0].split("\t")
    assert sorted(first[::2]) == ["question", "statement"] and abs(float(first[1]) + float(first[3]) - 1) < 2e-4
    assert ":1 has broken UTF-8" in run("classify", "-m", folder / "c", given=b"\xff\n", code=1)[1]


def main():
    """Trains once, then runs all tests."""
    with tempfile.TemporaryDirectory(prefix="heed-filter-") as name:
        folder = pathlib.Path(name)
        train(folder)
        sentences = (folder / "g.test.en").read_text().splitlines()
        for test in [value for key, value in globals().items() if key.startswith("test_")]:
            print(test.__name__, flush=True)
            signal.alarm(300)  # what does not stream would be waited for without end
            test(*(folder, sentences)[:test.__code__.co_argcount])


if __name__ == "__main__":
    main()
