"""Models with weights in fewer bits: loaded so, and from folders that were converted."""

from __future__ import annotations

import pathlib

import pytest
from small_models import run_program, translator_config

import heed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("models")
    heed.train(translator_config(place), model=place / "translator", after="60u")
    return place


def scores(translator: heed.Translator, folder: pathlib.Path) -> list[list[float]]:
    """The log-probabilities of the tokens of the held-out translations."""
    lines = [
        (folder / f"corpus.test.{language}").read_text(encoding="utf-8").splitlines()[:5]
        for language in ("en", "zh")
    ]
    return [found.token_log_probabilities for found in translator.score_batch(*lines)]


def test_forms(folder: pathlib.Path) -> None:
    plain = heed.Translator(folder / "translator")
    expected = scores(plain, folder)
    for form, error in (("none", 0.0), ("bf16", 0.2), ("int8", 0.5)):
        for loaded in (
            heed.load(folder / "translator", quantize=form),
            heed.Translator(folder / "translator", quantize=form),
        ):
            assert type(loaded) is heed.Translator
            found = scores(loaded, folder)
            assert (found == expected) == (form == "none")
            for one, other in zip(found, expected):
                assert one == pytest.approx(other, abs=error)
            assert repr(loaded) == repr(plain), "the number of parameters is the same"
            assert loaded.attention("A dog runs.").cross


def test_converted_folders(folder: pathlib.Path) -> None:
    own = folder / "int8"
    run_program("convert", str(folder / "translator"), "-o", str(own), "--quantize", "int8")
    expected = scores(heed.Translator(folder / "translator", quantize="int8"), folder)
    for form in ("none", "int8"):
        assert scores(heed.Translator(own, quantize=form), folder) == expected
    with pytest.raises(heed.Error, match="int8 and cannot become bf16"):
        heed.load(own, quantize="bf16")
    with pytest.raises(heed.Error, match="take the model that it was converted from"):
        heed.train(translator_config(folder), model=folder / "more", start_from=own, after="2u")


def test_other_tasks(folder: pathlib.Path) -> None:
    heed.train(
        task="language",
        model=folder / "language",
        train_sets=[folder / "corpus.en"],
        vocabulary__kind="characters",
        language_model={"embed": 32, "heads": 2, "layers": 1},
        block_length=32,
        batch_tokens=512,
        after="5u",
    )
    model = heed.LanguageModel(folder / "language", quantize="int8")
    assert model.generate("The", max_length=5, seed=3)
    with pytest.raises(heed.Error, match='not for "classify"'):
        heed.Classifier(folder / "language", quantize="int8")


def test_wrong_use(folder: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="did you mean 'quantize'"):
        heed.load(folder / "translator", quantise="int8")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="quantize"):
        heed.load(folder / "translator", quantize=8)  # type: ignore[arg-type]
    with pytest.raises(heed.Error, match="int3"):
        heed.load(folder / "translator", quantize="int3")
