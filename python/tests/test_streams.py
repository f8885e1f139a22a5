"""Iterators over results, with `for` and `async for`: the results of a batch, in order."""

from __future__ import annotations

import asyncio
import itertools
import pathlib
from typing import Any, Iterator

import pytest
from small_models import translator_config

import heed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("models")
    heed.train(translator_config(place), model=place / "translator")
    heed.train(
        task="language",
        model=place / "language",
        train_sets=[place / "corpus.en"],
        vocabulary__kind="characters",
        language_model={"layers": 1, "embed": 32, "heads": 2, "positions": "rope"},
        block_length=32,
        batch_tokens=512,
        after="20u",
    )
    return place


@pytest.fixture(scope="module")
def translator(folder: pathlib.Path) -> heed.Translator:
    return heed.Translator(folder / "translator")


@pytest.fixture(scope="module")
def language_model(folder: pathlib.Path) -> heed.LanguageModel:
    return heed.LanguageModel(folder / "language")


@pytest.fixture(scope="module")
def sentences(folder: pathlib.Path) -> list[str]:
    return ["", *(folder / "corpus.test.en").read_text(encoding="utf-8").splitlines(), ""]


def numbers_of(found: list[Any]) -> list[tuple[str, float]]:
    return [(result.text, result.log_probability) for result in found]


async def collect(stream: Any) -> list[Any]:
    return [found async for found in stream]


def test_translations_are_those_of_a_batch(
    translator: heed.Translator, sentences: list[str]
) -> None:
    for options in ({"beam_size": 1}, {"beam_size": 3, "n_best": 2}, {"method": "sample"}):
        batch = [numbers_of(found) for found in translator.translate_batch(sentences, **options)]
        stream = translator.translate_iter(sentences, **options)
        assert [numbers_of(found) for found in stream] == batch
        found = asyncio.run(collect(translator.translate_iter(sentences, **options)))
        assert [numbers_of(one) for one in found] == batch


def test_inputs_are_read_as_results_are_taken(translator: heed.Translator) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for read in itertools.count(1):
            yield "She has a dog."

    stream = translator.translate_iter(endless(), beam_size=1)
    for _ in range(5):
        next(stream)
    assert read <= 256 + 5


def test_several_streams_run_at_once(translator: heed.Translator, sentences: list[str]) -> None:
    async def all_of_them() -> list[list[Any]]:
        streams = [translator.translate_iter(sentences, beam_size=beam) for beam in (1, 2, 3)]
        return list(await asyncio.gather(*(collect(stream) for stream in streams)))

    for beam, found in zip((1, 2, 3), asyncio.run(all_of_them())):
        batch = translator.translate_batch(sentences, beam_size=beam)
        assert [one[0].text for one in found] == [one[0].text for one in batch]


def test_errors_of_inputs_pass_through(translator: heed.Translator) -> None:
    with pytest.raises(TypeError, match="must be a list of str"):
        translator.translate_iter("one text")
    with pytest.raises(TypeError, match=r"sentences\[1\]"):
        list(translator.translate_iter(["fine", 7]))  # type: ignore[list-item]

    def broken() -> Iterator[str]:
        yield "fine"
        raise KeyError("the source is gone")

    with pytest.raises(KeyError):
        list(translator.translate_iter(broken()))
    with pytest.raises(heed.Error, match="workers"):
        translator.translate_iter(["fine"], workers=10_000)
    with pytest.raises(heed.Error, match="workers"):
        translator.translate_batch(["fine"], workers=0)


def test_continuations_are_those_of_a_batch(language_model: heed.LanguageModel) -> None:
    prompts = ["The", "", "A dog", "She has"]
    options = {"max_length": 12, "n_best": 2}
    batch = [numbers_of(found) for found in language_model.generate_batch(prompts, **options)]
    assert [numbers_of(found) for found in language_model.generate_iter(prompts, **options)] == batch
    found = asyncio.run(collect(language_model.generate_iter(iter(prompts), **options)))
    assert [numbers_of(one) for one in found] == batch


def test_pieces_are_those_of_the_text(language_model: heed.LanguageModel) -> None:
    whole = language_model.generate("The ", max_length=30)
    pieces = list(language_model.stream("The ", max_length=30))
    assert "".join(pieces) == whole and len(pieces) > 3
    assert asyncio.run(collect(language_model.stream("The ", max_length=30))) == pieces
    with pytest.raises(heed.Error, match="beam_size of 1"):
        language_model.stream("The ", method="beam", beam_size=2)
