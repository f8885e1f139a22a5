"""Writes tests/golden/score/: the scores of sacreBLEU for difficult lines, for the tests of heed/evaluation/.

It needs only sacreBLEU 2.6.0 and NumPy 2 (NumPy 1 rounds resampled scores differently):

  python3 -m venv build/venv-score && build/venv-score/bin/pip install sacrebleu==2.6.0 "numpy>=2"
  build/venv-score/bin/python tools/golden/score.py
  build/venv-score/bin/python tools/golden/score.py --newstest DIR

The second form extracts the outputs of 16 systems for newstest2017 English-German from sacreBLEU's source
package, downloaded by pip, writes them to DIR as gzip files, and their scores to
tests/golden/score/newstest2017.json. The tests look for them in the folder newstest2017-en-de of the shared data.
"""

import argparse
import bz2
import contextlib
import gzip
import io
import itertools
import json
import logging
import pathlib
import pickle
import random
import subprocess
import sys
import tarfile
import tempfile

import numpy
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.metrics.lib_ter import translation_edit_rate
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "score"

# Hypotheses of two systems, reference, second reference.
LINES = [
    ("The cat sat on the mat.", "A cat sits on mat.", "The cat is on the mat.", "There is a cat on the mat."),
    ("", "", "", ""),
    ("", "something", "an empty translation", "nothing"),
    ("an empty reference", "", "", "empty"),
    ("   \t  ", " ", "  ", " x "),
    ("...", "!?", "?!", ".,;:!?"),
    ("!!! ??? ,,, --- '' \"\"", "!!!", "!!! ??? ,,, ---", "( ) [ ] { } < > / \\ | ~ ` ^ _ = + * & % $ # @"),
    ("It costs 1,000.5 dollars, not 1.000,5.", "It costs 1,000.5.", "It costs 1,000.5 dollars; not 1.000,5!", "1,000.5"),
    ("pages 3-4, 10-12 and well-known e-mails - yes", "pages 3 - 4", "pages 3-4,10-12 and well-known e-mails -yes", "3-4-5"),
    ("3.14159 .5 5. ,5 5, 1.2.3 v1.0-rc2", "3.14159", "3.14159 .5 5. ,5 5, 1.2.3 v1.0-rc2.", "pi = 3.14159"),
    ("&quot;Quoted&quot; &amp; &lt;b&gt; &amp;quot; &apos;", "\"Quoted\" & <b>", "\"Quoted\" & <b> &quot; '", "&quot Quoted &;"),
    ("<skipped> text <skipped>", "text", "text", "<SKIPPED> text"),
    ("Ann's, the dog's bone and 'scare' quotes' s", "anns bone", "Ann's , the dogs' bone and 'scare quotes'", "It's Ann's."),
    ("😀 I ❤️ C++ 👨‍👩‍👧‍👦 🇩🇪", "😀 I love C++", "😀 I ❤ C++ 👨‍👩‍👧‍👦 🇩🇪!", "😃"),
    ("我喜欢用北京话说“你好”，真的！", "我喜欢北京。", "我很喜欢用北京话说“你好”，真的。", "我愛北京話"),
    ("𠀀𪜶 CJK 扩展 B，豈更 ⺀⼀㆐㇀", "𠀀", "𠀀𪜶 扩展B,豈更 ⺀⼀㆐㇀", "𠀀 𪜶"),
    ("今日は「カタカナ」とひらがなと漢字、ｱｲｳ１２３。", "今日はカタカナ", "今日は『カタカナ』と ひらがな と漢字，ｱｲｳ123．", "きょう・は"),
    ("㈱会社は㍻三十年①②③に（株）となった：？！", "会社", "㈱会社は平成三十年①②③に(株)となった:?!", "㈱"),
    ("한국어 문장입니다. 좋아요!", "한국어", "한국어 문장 입니다. 좋아요!", "좋아요"),
    ("Ελληνικά ΟΔΟΣ ΣΑΣ ςΣ, α.Σ", "ΟΔΟΣ", "ελληνικά οδος σας ςς, α.σ", "Ελληνικά ΟΔΌΣ"),
    ("İSTANBUL ISPARTA ǅ ẞ ﬁ Ǆ", "istanbul", "i̇stanbul isparta ǆ ß fi ǆ", "İstanbul"),
    ("שלום, עולם! مرحبا بالعالم؟ ١٬٢٣٤٫٥", "שלום", "שלום עולם. مرحبا، بالعالم؟ ١٬٢٣٤٫٥", "العالم"),
    ("नमस्ते दुनिया। १२३", "नमस्ते", "नमस्ते, दुनिया। १२३।", "दुनिया"),
    ("１２３，４５６．７８ ＡＢＣ！", "123,456.78 ABC!", "１２３,４５６.７８ ＡＢＣ!", "１２３"),
    ("a\u2028b\u2029c\u00a0d\u3000e\u200bf\u1680g\u2003h\u202fi", "a b c", "a b c d e\u200bf g h i", "ab"),
    ("tab\there\x0bvt\x0cff\x1cfs\x1dgs\x1ers\x1fus\x85nel", "tab", "tab here vt ff fs gs rs us nel", "\x1c"),
    ("bell\x07 null\x00 escape\x1b del\x7f bom\ufeff", "bell", "bell\x07 null\x00 escape\x1b del\x7f bom", "\x00"),
    ("carriage\rreturn", "carriage return", "carriage return", "return carriage"),
    ("combining e\u0301 o\u0308 vs é ö", "é", "combining é ö vs e\u0301 o\u0308", "e o"),
    ("w" * 150 + " " + "long" * 30, "w" * 149, "w" * 150 + " " + "long" * 31, "w"),
    ("the the the the the the the", "the", "the cat is on the mat", "there is a cat on the mat"),
    ("a b c d e f g h i j k l m n o p", "p o n m", "k l m n o p a b c d e f g h i j", "i j k l a b c d"),
    ("one two three four five six seven eight nine ten " * 6, "ten nine",
     "six seven eight nine ten one two three four five " * 6, "one two"),
    ("x", " ".join("y" for _ in range(120)), " ".join(["x"] * 60), "y x"),
    ("price: $5.00/kg (€4,50) ±3°C ½ № ² x² ≤ ≥ → ∑ © ® ™ § ¶", "price: $5.00", "price : 5.00$/kg (4,50€) ±3 °C ½ №² x² ≤≥→ ∑©®™§¶", "€"),
    ("„Deutsch“ «français» ‚x‘ ‹y› – — … ’s ·", "Deutsch", "\"Deutsch\" « français » 'x' <y> - -- ... 's ·", "„“"),
    ("http://example.com/a_b-c?d=e&f#g user@example.com C:\\dir\\file.txt", "example", "http://example.com/a_b-c?d=e&f#g me@example.org", "www"),
    ("(hi) (hi). \"hi\" 'hi' -hi- hi... ?hi", "hi", "( hi ) ( hi ) . hi hi -hi hi. ?hi", "hi hi hi"),
    ("Trailing space and tab \t ", "Trailing", "Trailing space and tab", " Leading"),
    ("MiXeD cAsE Words", "mixed", "mixed case words", "MIXED CASE WORDS"),
]
# Used only in the tests of functions, because they contain line ends.
ONE_LINE_ONLY = ["soft-\nhyphen and\n-more\nlines", "&amp;\n", "'s\n"]

BLEU_CASES = [dict(tokenize=t, **more) for t in ("13a", "intl", "zh", "char", "none") for more in (
    dict(), dict(lowercase=True), dict(effective_order=True), dict(smooth_method="floor"),
    dict(smooth_method="add-k"), dict(smooth_method="none"))] + [
    dict(smooth_method="floor", smooth_value=0.01), dict(smooth_method="add-k", smooth_value=2.5),
    dict(max_ngram_order=2), dict(max_ngram_order=6, effective_order=True), dict(max_ngram_order=1)]
CHRF_CASES = [dict(), dict(word_order=2), dict(word_order=1, beta=3), dict(char_order=3, beta=1), dict(whitespace=True),
              dict(lowercase=True, word_order=2), dict(eps_smoothing=True), dict(eps_smoothing=True, word_order=2),
              dict(whitespace=True, eps_smoothing=True, lowercase=True)]
TER_CASES = [dict(zip(("normalized", "no_punct", "asian_support", "case_sensitive"), flags))
             for flags in itertools.product((False, True), repeat=4)]

OUTPUTS = {
    "bleu.json": "ref1.txt -i hyp1.txt",
    "score_only.txt": "ref1.txt -i hyp1.txt -b -w 4",
    "all.json": "ref1.txt ref2.txt -i hyp1.txt -m bleu chrf ter -w 3",
    "all.txt": "ref1.txt -i hyp1.txt -m ter chrf bleu -f text",
    "short.txt": "ref1.txt ref2.txt -i hyp1.txt -m bleu chrf ter -f text --short -cw 2 -tok intl -s floor",
    "confidence.json": "ref1.txt ref2.txt -i hyp1.txt -m bleu chrf ter --confidence --confidence-n 200 -w 8",
    "confidence.txt": "ref1.txt -i hyp1.txt -m bleu chrf ter --confidence -f text -lc",
    "sentences.txt": "ref1.txt -i hyp1.txt -sl -tok zh",
    "two_systems.json": "ref1.txt -i hyp1.txt hyp2.txt -m ter bleu chrf",
    "two_systems.txt": "ref1.txt -i hyp1.txt hyp2.txt -m ter bleu chrf -f text",
    "two_systems.tex": "ref1.txt -i hyp1.txt hyp2.txt -m bleu -f latex",
    "paired_bs.json": "ref1.txt ref2.txt -i hyp1.txt hyp2.txt --paired-bs",
    "paired_bs.txt": "ref1.txt -i hyp1.txt hyp2.txt -m ter bleu chrf --paired-bs -pbsn 100 -f text",
    "paired_ar.json": "ref1.txt ref2.txt -i hyp1.txt hyp2.txt -m bleu chrf ter --paired-ar --paired-ar-n 500",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--newstest", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    assert sacrebleu.__version__ == "2.6.0" and numpy.__version__ >= "2", "see above"
    logging.disable(logging.WARNING)  # hides thousands of warnings about sentence BLEU
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.newstest:
        return write_newstest(options.newstest)
    write_json("metrics.json", {
        "lines": LINES,
        "tokens": tokens(),
        "ter": ter_words(),
        "edits": edits(),
        "bleu": [scores(BLEU, case) for case in BLEU_CASES],
        "chrf": [scores(CHRF, case) for case in CHRF_CASES],
        "ter_scores": [scores(TER, case) for case in TER_CASES],
    })
    write_json("resampling.json", {
        "random": [random_numbers(seed) for seed in (0, 1, 12345, 2**32 + 7, 2**64 - 1)],
        "sums": sums(),
        "paired": [paired(kind, name) for kind in ("bs", "ar") for name in ("BLEU", "CHRF", "TER")],
    })
    for name, column in (("hyp1", 0), ("hyp2", 1), ("ref1", 2), ("ref2", 3)):
        text = "".join(line[column].rstrip() + "\n" for line in LINES)
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
    for name, arguments in OUTPUTS.items():
        out = subprocess.run([sys.executable, "-m", "sacrebleu", *arguments.split(), "-q"], cwd=FOLDER, check=True,
                             stdout=subprocess.PIPE).stdout
        # heed has its own explanation below a table of paired tests, so only the table is kept.
        (FOLDER / name).write_bytes(out.split(b"\n\n")[0] + b"\n" if name == "paired_bs.txt" else out)
    return 0


def write_json(name, value):
    """One line for each entry, so that changes can be read."""
    parts = []
    for key, entry in value.items():
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in entry)
        parts.append(f"{json.dumps(key)}: [\n{rows}\n]")
    (FOLDER / name).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8", newline="\n")


def texts():
    return [line[0] for line in LINES] + [line[2] for line in LINES] + ONE_LINE_ONLY


def tokens():
    return [{"tokenizer": name, "text": text, "words": _get_tokenizer(name)()(text).split()}
            for name in ("13a", "intl", "zh", "char", "none") for text in texts()]


def ter_words():
    return [{"options": case, "lines": [TercomTokenizer(**case)(text.rstrip()) for text in texts()]}
            for case in TER_CASES if case["case_sensitive"] == case["no_punct"]]


def edits():
    """Long sentences of few words and blocks moved far, where the search limits matter. A letter is a word."""
    draw = random.Random(5)
    pairs = [("".join(draw.choices(letters, k=n)), "".join(draw.choices(letters, k=m)))
             for letters in ("ab", "abcdef", "abcdefghijklmnop") for n, m in ((30, 30), (90, 70), (20, 110), (70, 10))]
    unique = "".join(chr(0x4E00 + i) for i in range(200))
    for distance in (10, 30, 49, 50, 51, 52, 80):
        pairs.append((unique[:8] + unique[20:20 + distance], unique[20:20 + distance] + unique[:8]))
        pairs.append((unique[:120], unique[distance:120] + unique[120:120 + distance]))
    return [{"hypothesis": a, "reference": b, "edits": translation_edit_rate(list(a), list(b))[0]} for a, b in pairs]


def columns():
    first, second, reference, other = (list(column) for column in zip(*LINES))
    return first, second, [reference, other]


def scores(metric, case):
    """Scores of the corpus and of each sentence, against one reference and against two."""
    result = {"options": case}
    hypotheses, _, references = columns()
    for count in (1, 2):
        scorer = metric(**case)
        corpus = scorer.corpus_score(hypotheses, references[:count])
        result[f"corpus{count}"] = {
            "name": corpus.name, "value": corpus.score, "details": corpus._verbose,
            "signature": str(scorer.get_signature()), "short": scorer.get_signature().format(short=True)}
        result[f"sentences{count}"] = [
            metric(**case).sentence_score(hypothesis, list(refs)).score
            for hypothesis, *refs in zip(hypotheses, *references[:count])]
    return result


def random_numbers(seed):
    return {"seed": str(seed),
            "below": [{"n": n, "values": numpy.random.default_rng(seed).choice(n, size=40).tolist()}
                      for n in (1, 2, 3, 10, 3004, 2**31 + 11)],
            "coins": numpy.random.default_rng(seed).integers(2, size=100, dtype=bool).tolist()}


def sums():
    """Means of k / 7, whose sums are rounded."""
    import statistics
    result = []
    for n in (1, 5, 8, 100, 128, 129, 1000, 1003):
        values = [float(numpy.float32((k * 37 % 101) / 7)) for k in range(n)]
        result.append({"values": values, "float": float(numpy.array(values, dtype="float32").mean()),
                       "double": float(numpy.array(values).mean()), "exact": statistics.mean(values)})
    return result


def paired(kind, name):
    first, second, references = columns()
    metric = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}[name](references=references)
    trials = {"bs": 300, "ar": 500}[kind]
    _, results = PairedTest([("a", first), ("b", second)], {name: metric}, None, kind, trials)()
    confidence = metric.corpus_score(first, None, n_bootstrap=trials)
    rows = next(value for key, value in results.items() if key != "System")
    number = lambda x: None if x is None else float(x)
    return {"kind": kind, "metric": name, "trials": trials,
            "mean": float(confidence._mean), "ci": float(confidence._ci),
            "results": [{k: number(v) for k, v in vars(row).items()} for row in rows]}


class PlainUnpickler(pickle.Unpickler):
    """Lists, tuples and strings only."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def newstest_systems():
    """[(name, lines)]; the last one is the reference."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder,
                        "sacrebleu==2.6.0"], check=True)
        with tarfile.open(next(pathlib.Path(folder).glob("*.tar.gz"))) as archive:
            packed = archive.extractfile("sacrebleu-2.6.0/test/wmt17_en_de_systems.pkl.bz2").read()
    *systems, (name, documents) = PlainUnpickler(io.BytesIO(bz2.decompress(packed))).load()
    return systems + [(name, documents[0])]


def write_newstest(folder):
    folder.mkdir(parents=True, exist_ok=True)
    *systems, (_, reference) = newstest_systems()
    for name, lines in systems + [("reference", reference)]:
        with contextlib.closing(gzip.GzipFile(folder / f"{name}.gz", "wb", mtime=0)) as file:
            file.write("".join(line + "\n" for line in lines).encode())
    metrics = {"bleu": BLEU(references=[reference]), "chrf": CHRF(references=[reference]),
               "chrf++": CHRF(word_order=2, references=[reference]), "ter": TER(references=[reference])}
    write_json("newstest2017.json", {
        "systems": [{"name": name, "scores": {key: metric.corpus_score(lines, None).score
                                              for key, metric in metrics.items()}} for name, lines in systems],
        "paired": [dict(name=name, **vars(result)) for name, result in zip(
            *PairedTest(systems, {"BLEU": metrics["bleu"]}, None, "bs", 1000)()[1].values())],
    })
    return 0


if __name__ == "__main__":
    sys.exit(main())
