"""Models that read passages and answer questions about stories: trained, loaded and used from Python."""

from __future__ import annotations

import pathlib

import pytest

import heed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    place = tmp_path_factory.mktemp("questions")
    (place / "tales").write_text("1 ||| the red dog\n2 ||| a XXXXX dog ||| red\n1 ||| a cat\n2 ||| the XXXXX ||| cat\n")
    (place / "stories").write_text("1 Mary left.\n2 Who left?\tmary\n3 John came.\n4 Who came?\tjohn\n")
    heed.train(task="read", model=place / "reader", train_sets=[place / "tales"], after="2u",
               reader={"embed": 4, "hidden": 3})
    heed.train(task="answer", model=place / "answerer", train_sets=[place / "stories"], after="2u", valid_share=0,
               memory_network={"embed": 4, "hops": 2})
    return place


def test_reading(folder: pathlib.Path) -> None:
    reader = heed.load(folder / "reader")
    assert type(reader) is heed.ClozeReader
    assert reader.config["embed"] == 4 and "words>" in repr(reader)
    questions = [("the red dog", "a XXXXX dog"), ("a new name", "XXXXX is new")]
    found = reader.read_batch(questions)
    assert found == [reader.read(*question) for question in questions]
    assert all(word in passage.split() for word, (passage, _) in zip(found, questions, strict=True))
    assert reader.read_batch([]) == []
    assert len(reader.attention(*questions[0]).cross) == 1
    with pytest.raises(heed.Error, match="without XXXXX, the blank"):
        reader.read("a dog", "a dog")
    with pytest.raises(heed.Error, match="passage without words"):
        reader.read("", "XXXXX")
    with pytest.raises(heed.Error, match="not a pair"):
        reader.read_batch([("a",)])


def test_answering(folder: pathlib.Path) -> None:
    answerer = heed.load(folder / "answerer")
    assert type(answerer) is heed.StoryAnswerer
    assert answerer.config["hops"] == 2 and "words>" in repr(answerer)
    questions = [(["Mary left.", "John came."], "Who left?"), ([], "Who came?")]
    found = answerer.answer_batch(questions)
    assert found == [answerer.answer(*question) for question in questions]
    assert answerer.answer_batch([]) == []
    assert len(answerer.attention(*questions[0]).cross) == 2
    with pytest.raises(heed.Error, match="no words"):
        answerer.answer(["Mary left."], "?")
