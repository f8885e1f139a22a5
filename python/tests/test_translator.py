"""Translators, language models and classifiers: results, attention, threads, Ctrl-C, mistakes."""

from __future__ import annotations

import json
import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import numpy as np
import pytest
from small_models import press_ctrl_c, run_program, translator_config

import heed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("models")
    heed.train(translator_config(place), model=place / "translator", after="250u")
    return place


@pytest.fixture(scope="module")
def translator(folder: pathlib.Path) -> heed.Translator:
    return heed.Translator(folder / "translator")


@pytest.fixture(scope="module")
def sentences(folder: pathlib.Path) -> list[str]:
    return (folder / "corpus.test.en").read_text(encoding="utf-8").splitlines()


def texts_of(found: list[list[heed.Translation]]) -> list[list[str]]:
    return [[translation.text for translation in n_best] for n_best in found]


# ---- translations --------------------------------------------------------------------------------


def test_batches_are_what_sentences_are_alone(
    translator: heed.Translator, sentences: list[str]
) -> None:
    together = texts_of(translator.translate_batch(sentences, beam_size=3, n_best=2))
    assert len(together) == len(sentences) and all(len(n_best) == 2 for n_best in together)
    alone = [translator.translate_batch([s], beam_size=3, n_best=2)[0] for s in sentences]
    assert texts_of(alone) == together
    few = translator.translate_batch(iter(sentences), beam_size=3, n_best=2, batch_tokens=100)
    assert texts_of(few) == together
    assert translator.translate(sentences[3], beam_size=3) == together[3][0]
    assert len({n_best[0] for n_best in together}) > 3, "or their order cannot be seen"


def test_n_best_is_the_programs(
    translator: heed.Translator, folder: pathlib.Path, sentences: list[str]
) -> None:
    model = str(folder / "translator")
    lines = "".join(sentence + "\n" for sentence in sentences)
    options: dict[str, Any] = {"beam_size": 4, "n_best": 3, "length_penalty": 0.6}
    flags = ["--beam-size=4", "--n-best=3", "--length-penalty=0.6"]
    written = run_program("translate", "-m", model, *flags, text=lines).splitlines()
    found = translator.translate_batch(sentences, **options)
    assert len(written) == 3 * len(sentences)
    for line, (number, translation) in zip(
        written, ((i, t) for i, n_best in enumerate(found) for t in n_best)
    ):
        where, text, log_p, score = line.split(" ||| ")
        assert int(where) == number and text == translation.text == str(translation)
        log_probability = float(log_p[len("logprob= ") :])
        assert log_probability == pytest.approx(translation.log_probability, abs=3e-4)
        assert float(score) == pytest.approx(translation.score, abs=3e-4)


def test_samples_are_the_programs(
    translator: heed.Translator, folder: pathlib.Path, sentences: list[str]
) -> None:
    options: dict[str, Any] = {"method": "sample", "top_k": 5, "temperature": 2.0}
    found = texts_of(translator.translate_batch(sentences, seed=7, **options))
    assert found == texts_of(translator.translate_batch(sentences, seed=7, **options))
    assert found != texts_of(translator.translate_batch(sentences, seed=8, **options))
    lines = "".join(sentence + "\n" for sentence in sentences)
    flags = ["--method=sample", "--top-k=5", "--temperature=2", "--seed=7"]
    written = run_program("translate", "-m", str(folder / "translator"), *flags, text=lines)
    assert [n_best[0] for n_best in found] == written.splitlines()


def test_numbers_of_a_translation(translator: heed.Translator, sentences: list[str]) -> None:
    (translation,) = translator.translate_batch(sentences[:1], length_penalty=0.5)[0]
    tokens = translator.target_tokenizer
    assert tokens.decode(translation.ids) == translation.text
    assert translation.tokens == tokens.pieces(translation.text)
    log_p = translation.token_log_probabilities
    assert len(log_p) == len(translation.ids) + 1 and max(log_p) <= 0
    assert sum(log_p) == pytest.approx(translation.log_probability, rel=1e-5)
    assert translation.score == pytest.approx(sum(log_p) / len(log_p) ** 0.5, rel=1e-5)
    assert translation.text in repr(translation)


def test_nothing_is_nothing(translator: heed.Translator) -> None:
    assert translator.translate_batch([]) == []
    assert translator.translate("") == ""
    assert texts_of(translator.translate_batch(["", "A dog."]))[0] == [""]


def test_any_text_will_do(translator: heed.Translator) -> None:
    assert isinstance(translator.translate("\x00 狗 🐕 \n"), str)
    with pytest.raises(UnicodeEncodeError):
        translator.translate("\ud800")


def test_scores_are_those_of_the_search(translator: heed.Translator, sentences: list[str]) -> None:
    found = [n_best[0] for n_best in translator.translate_batch(sentences)]
    scored = translator.score_batch(sentences, [translation.text for translation in found])
    for one, other in zip(found, scored):
        assert other.text == one.text and other.ids == one.ids
        assert other.log_probability == pytest.approx(one.log_probability, abs=1e-4)
        assert other.score == pytest.approx(one.score, abs=1e-4)
        np.testing.assert_allclose(
            other.token_log_probabilities, one.token_log_probabilities, atol=1e-4
        )
    plain, usual = (
        translator.score_batch(sentences[:1], ["我我我"], length_penalty=alpha)[0]
        for alpha in (0.0, 1.0)
    )
    assert plain.score == plain.log_probability
    assert usual.score == plain.score / 4 < found[0].score
    with pytest.raises(heed.Error, match="2 sources and 1 targets"):
        translator.score_batch(["a", "b"], ["c"])


def test_tokenizers(translator: heed.Translator, folder: pathlib.Path) -> None:
    tokens = translator.source_tokenizer
    ids = tokens.encode("A dog runs.")
    assert tokens.decode(ids) == "A dog runs."
    assert len(tokens.pieces("A dog.")) == len(tokens.encode("A dog.")) == 6
    assert len(tokens) == translator.config["source_vocabulary"] and tokens.kind == "characters"
    special = {tokens.unknown, tokens.begin, tokens.end, tokens.padding}
    assert len(special) == 4 and not special & set(ids)
    (file,) = (folder / "translator" / "checkpoint_last").glob("*tokenizer*.json")
    assert heed.Tokenizer(file).encode("A dog runs.") == ids
    with pytest.raises(heed.Error, match="vocabulary|token"):
        tokens.decode([10**6])
    with pytest.raises(TypeError, match="text"):
        tokens.encode(3)  # type: ignore[arg-type]


# ---- attention -----------------------------------------------------------------------------------


def test_attention_of_any_layer_and_head(
    translator: heed.Translator, sentences: list[str]
) -> None:
    seen = translator.attention(sentences[0])
    assert seen.text == sentences[0] and seen.result == translator.translate(sentences[0])
    S, T = len(seen.source), len(seen.target)
    assert seen.source[-1] == seen.target[-1] == "</s>" and seen.target_read[0] == "<s>"
    assert seen.target_read[1:] == seen.target[:-1]
    shapes = {"encoder": (2, S, S), "decoder": (2, T, T), "cross": (2, T, S)}
    for kind, shape in shapes.items():
        layers = getattr(seen, kind)
        assert [layer.shape for layer in layers] == [shape, shape]
        for layer in layers:
            assert layer.dtype == np.float32
            np.testing.assert_allclose(layer.sum(-1), 1.0, atol=1e-5)
    for layer in seen.decoder:
        assert not np.triu(layer, 1).any()
    assert not np.array_equal(seen.cross[0], seen.cross[1])
    assert seen.alignment.shape == (T, S)
    np.testing.assert_allclose(seen.alignment.sum(-1), 1.0, atol=1e-5)


def test_attention_to_a_given_target(translator: heed.Translator) -> None:
    seen = translator.attention("A dog runs.", "他说。")
    assert seen.result == "他说。" and seen.target == ["他", "说", "。", "</s>"]
    with pytest.raises(heed.Error, match="target"):
        translator.attention("A dog runs.", "他说。", beam_size=3)
    with pytest.raises(heed.Error, match="no tokens"):
        translator.attention("", "他")


def test_alignments_are_the_programs(
    translator: heed.Translator, folder: pathlib.Path, sentences: list[str]
) -> None:
    lines = "".join(sentence + "\n" for sentence in sentences)
    for unit in ("words", "tokens"):
        flags = ["--alignment=hard", f"--alignment-unit={unit}"]
        written = run_program("translate", "-m", str(folder / "translator"), *flags, text=lines)
        for sentence, line in zip(sentences, written.splitlines()):
            links = translator.attention(sentence).links(unit)
            assert " ".join(f"{s}-{t}" for s, t in links) == line.split("\t")[1]
    seen = translator.attention(sentences[0])
    assert seen.links("tokens", threshold=2.0) == []
    assert len(seen.links("tokens", threshold=0.0)) == (len(seen.source) - 1) * (
        len(seen.target) - 1
    )
    with pytest.raises(heed.Error, match="unit"):
        seen.links("letters")


def test_pictures_of_attention(translator: heed.Translator, tmp_path: pathlib.Path) -> None:
    seen = translator.attention("A dog runs.", "他说。")
    picture = seen.picture()
    assert "Decoder self-attention" in str(picture) and "Cross-attention" in str(picture)
    assert seen._repr_svg_() == str(picture)
    one = seen.picture("cross", layer=2, head=1)
    assert "Decoder self-attention" not in str(one) and "Cross-attention" in str(one)
    page = seen.page()
    page.save(tmp_path / "page.html")
    assert "他说。" in str(page)
    with pytest.raises(heed.Error, match="encoder, decoder and cross"):
        seen.picture("self")
    with pytest.raises(heed.Error, match="layer"):
        seen.picture(layer=3)
    array = seen.cross[0]
    del seen
    assert array.sum() == pytest.approx(8.0, abs=1e-4)  # 2 heads, 4 rows


# ---- language models and classifiers -------------------------------------------------------------


@pytest.fixture(scope="module")
def language_model(folder: pathlib.Path) -> heed.LanguageModel:
    heed.train(
        task="language",
        model=folder / "language",
        train_sets=[folder / "corpus.en"],
        vocabulary__kind="characters",
        language_model={"embed": 32, "heads": 2, "layers": 2},
        block_length=32,
        batch_tokens=512,
        after="30u",
    )
    return heed.LanguageModel(folder / "language")


def test_generates_what_the_program_does(
    language_model: heed.LanguageModel, folder: pathlib.Path
) -> None:
    pieces: list[str] = []
    text = language_model.generate("The dog", max_length=40, seed=5, on_text=pieces.append)
    assert "".join(pieces) == text and len(pieces) > 20
    flags = ["--prompt", "The dog", "--max-length=40", "--seed=5"]
    assert run_program("generate", "-m", str(folder / "language"), *flags) == f"The dog{text}\n"
    assert language_model.generate(max_length=5) != ""


def test_generates_several(language_model: heed.LanguageModel) -> None:
    found = language_model.generate_batch(["The dog", "A"], n_best=3, max_length=10)
    assert [len(texts) for texts in found] == [3, 3]
    assert all(len(one.ids) == 10 for texts in found for one in texts)
    assert found[0][0].score >= found[0][1].score >= found[0][2].score
    beam = language_model.generate_batch(["The dog"], method="beam", beam_size=2, max_length=10)
    assert beam[0][0].text == language_model.generate(
        "The dog", method="beam", beam_size=2, max_length=10
    )
    seen = language_model.attention("The dog")
    assert seen.source == [] and seen.alignment is None and seen.decoder[1].shape == (2, 7, 7)
    with pytest.raises(heed.Error, match="translator"):
        seen.links()
    with pytest.raises(TypeError, match="min_length"):
        language_model.generate("a", min_length=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "value"),
    [("temperature", 1e-39), ("beam_size", 2**63 - 1), ("n_best", 2**63 - 1), ("top_p", 0.0)],
)
def test_numbers_out_of_range_are_named(
    language_model: heed.LanguageModel, option: str, value: float
) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(heed.Error, match=f"{option} is .*: it must be"):
        language_model.generate("a", **options)


def test_texts_stop(language_model: heed.LanguageModel) -> None:
    text = language_model.generate("The dog", max_length=40)
    stop = text[10:12]
    pieces: list[str] = []
    cut = language_model.generate(
        "The dog", max_length=40, stop=["\0never", stop], on_text=pieces.append
    )
    assert cut == text[: text.index(stop)] == "".join(pieces)
    found = language_model.generate_batch(["The dog"], max_length=40, stop=(stop,))[0][0]
    assert found.text == cut and found.finish == "stop"
    assert language_model.generate_batch(["The dog"], max_length=9)[0][0].finish == "length"
    with pytest.raises(heed.Error, match="stop string is empty"):
        language_model.generate("The dog", stop=[""])
    with pytest.raises(TypeError, match="stop"):
        language_model.generate("The dog", stop="x")  # type: ignore[arg-type]


def test_options_of_sampling(language_model: heed.LanguageModel) -> None:
    greedy = language_model.generate("The dog", method="beam", max_length=20)
    assert language_model.generate("The dog", min_p=1.0, max_length=20) == greedy
    other = language_model.generate("The dog", method="beam", max_length=20, presence_penalty=100.0)
    assert len(set(other)) == 20
    assert language_model.generate("The dog", repetition_penalty=1.5, max_length=20) != greedy


def test_a_model_without_chat_template_does_not_chat(language_model: heed.LanguageModel) -> None:
    with pytest.raises(heed.Error, match="no chat template"):
        language_model.chat([{"role": "user", "content": "Hello"}])
    with pytest.raises(TypeError, match=r"messages\[0\].*'role' and 'content'"):
        language_model.chat([{"role": "user"}])
    with pytest.raises(TypeError, match=r"messages\[0\]\['content'\]"):
        language_model.chat([{"role": "user", "content": 3}])  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"messages\[0\]"):
        language_model.chat("Hello")  # type: ignore[arg-type]


def test_what_on_text_raises_is_raised(language_model: heed.LanguageModel) -> None:
    def refuse(text: str) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError):
        language_model.generate("A", max_length=10, on_text=refuse)


def write_labels(folder: pathlib.Path, sentences: list[str]) -> pathlib.Path:
    """A file of labelled lines for classifiers."""
    rows = [f"{'question' if line.endswith('?') else 'statement'}\t{line}\n" for line in sentences]
    (folder / "labels").write_text("".join(rows), encoding="utf-8")
    return folder / "labels"


def test_classifies_what_the_program_does(folder: pathlib.Path, sentences: list[str]) -> None:
    heed.train(
        task="classify",
        model=folder / "classifier",
        train_sets=[write_labels(folder, sentences)],
        vocabulary__kind="characters",
        classifier={"embed": 32, "heads": 2, "hidden": 32, "layers": 1},
        after="20u",
    )
    classifier = heed.Classifier(folder / "classifier")
    assert sorted(classifier.labels) == ["question", "statement"]
    found = classifier.classify_batch(sentences, batch_tokens=200)
    lines = "".join(sentence + "\n" for sentence in sentences)
    written = run_program("classify", "-m", str(folder / "classifier"), "--all", text=lines)
    for one, line, sentence in zip(found, written.splitlines(), sentences):
        labels = line.split("\t")
        assert list(one) == labels[::2] and classifier.classify(sentence) == labels[0]
        assert list(one.values()) == pytest.approx([float(p) for p in labels[1::2]], abs=1e-4)
        assert sum(one.values()) == pytest.approx(1.0, abs=1e-5)
    seen = classifier.attention(sentences[0])
    assert seen.result == classifier.classify(sentences[0]) and seen.cross == []
    with pytest.raises(heed.Error, match='task "classify" \\(classifier\\), not for "translate"'):
        heed.Translator(folder / "classifier")


def test_a_model_without_attention(folder: pathlib.Path, sentences: list[str]) -> None:
    heed.train(
        task="classify",
        kind="bag_of_words",
        model=folder / "bag",
        train_sets=[write_labels(folder, sentences)],
        vocabulary__kind="characters",
        bag_of_words={"embed": 16},
        after="20u",
    )
    classifier = heed.Classifier(folder / "bag")
    assert classifier.classify("A dog runs.") in ("question", "statement")
    assert classifier.config["embed"] == 16
    with pytest.raises(heed.Error, match="no attention"):
        classifier.attention("A dog runs.")


def test_load_gives_the_model_of_the_task(
    translator: heed.Translator,
    language_model: heed.LanguageModel,
    folder: pathlib.Path,
    sentences: list[str],
) -> None:
    loaded = heed.load(folder / "translator")
    assert type(loaded) is heed.Translator
    assert loaded.translate(sentences[0]) == translator.translate(sentences[0])
    generator = heed.load(str(folder / "language"))
    assert type(generator) is heed.LanguageModel
    options: dict[str, Any] = {"max_length": 20, "seed": 3}
    assert generator.generate("The", **options) == language_model.generate("The", **options)
    heed.train(
        task="classify",
        model=folder / "loaded",
        train_sets=[write_labels(folder, sentences)],
        vocabulary__kind="characters",
        classifier={"embed": 16, "heads": 2, "hidden": 16, "layers": 1},
        after="2u",
    )
    assert type(heed.load(folder / "loaded")) is heed.Classifier


# ---- the process ---------------------------------------------------------------------------------


def test_threads_may_share_a_translator(translator: heed.Translator, sentences: list[str]) -> None:
    expected = texts_of(translator.translate_batch(sentences, n_best=2))
    with ThreadPoolExecutor(4) as pool:
        futures = [
            pool.submit(translator.translate_batch, sentences, n_best=2) for _ in range(4)
        ] + [pool.submit(translator.translate_batch, sentences[:7], n_best=2) for _ in range(4)]
        for future in futures:
            found = texts_of(future.result())
            assert found == expected[: len(found)]


def test_other_threads_run_meanwhile(translator: heed.Translator, sentences: list[str]) -> None:
    done = threading.Event()
    work = threading.Thread(
        target=lambda: (translator.translate_batch(sentences * 2), done.set())
    )
    work.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    work.join()
    assert turns > 20


@pytest.mark.parametrize(
    "call",
    [
        "heed.Translator('translator').translate_batch(lines * 100000)",
        "heed.Translator('translator').score_batch(lines * 100000, lines * 100000)",
    ],
)
def test_ctrl_c_ends_it(folder: pathlib.Path, call: str) -> None:
    script = f"""
import heed
lines = open("corpus.test.en", encoding="utf-8").read().splitlines()[:10]
print("ready")
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""
    assert press_ctrl_c(script, folder) == "interrupted\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.translate_batch("A dog."), "list of str"),
        (lambda t: t.translate_batch(3), "list of str"),
        (lambda t: t.translate_batch(["a", b"b"]), r"sentences\[1\]: .*bytes"),
        (lambda t: t.translate_batch([None]), r"sentences\[0\]"),
        (lambda t: t.translate(["a"]), "text: .*list"),
        (lambda t: t.translate_batch(["a"], beam_sise=3), "did you mean 'beam_size'"),
        (lambda t: t.translate_batch(["a"], beam_size="3"), "beam_size = '3': expected integer"),
        (lambda t: t.translate_batch(["a"], beam_size=2.5), "beam_size = 2.5"),
        (lambda t: t.translate_batch(["a"], allow_unknown=1), "allow_unknown"),
        (lambda t: t.translate_batch(["a"], method=3), "method"),
        (lambda t: t.score_batch(["a"], "b"), "targets"),
        (lambda t: t.score_batch(["a"], ["b"], beam_size=3), "beam_size"),
        (lambda t: t.attention("a", 3), "target"),
        (lambda t: heed.Translator(3), "path"),
        (lambda t: heed.load(3), "path"),
        (lambda t: heed.load("m", quantise="int8"), "quantize"),
        (lambda t: heed.load("m", quantize=8), "quantize"),
    ],
)
def test_wrong_types(
    translator: heed.Translator, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(translator)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0: it must be from 1 to 1000"),
        ({"n_best": 6}, "n_best 6 is more than beam_size 5"),
        ({"method": "beem"}, "did you mean beam"),
        ({"temperature": -1}, "temperature"),
        ({"batch_tokens": 0}, "batch_tokens"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_values(translator: heed.Translator, options: dict[str, Any], message: str) -> None:
    with pytest.raises(heed.Error, match=message):
        translator.translate_batch(["a"], **options)


def test_models_that_are_not_there(tmp_path: pathlib.Path) -> None:
    for model in (heed.Translator, heed.LanguageModel, heed.Classifier):
        with pytest.raises(heed.Error, match="config.json"):
            model(tmp_path)
    with pytest.raises(heed.Error, match="config.json"):
        heed.load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"kind": "poem"}))
    for load in (heed.Translator, heed.load):
        with pytest.raises(heed.Error, match="poem"):
            load(tmp_path)
