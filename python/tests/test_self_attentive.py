"""The self-attentive classifier, trained, loaded and seen from Python."""

import pathlib

import heed


def test_a_self_attentive_classifier(tmp_path: pathlib.Path) -> None:
    lines = ["question\tDoes the dog run?", "statement\tThe dog runs.", "question\tIs it a cat?", "statement\tIt is."]
    data = tmp_path / "labelled"
    data.write_text("\n".join(lines * 8) + "\n")
    heed.train(
        task="classify",
        kind="self_attentive",
        model=tmp_path / "hops",
        train_sets=[data],
        vocabulary__kind="characters",
        self_attentive={"embed": 16, "hidden": 16, "hops": 3},
        after="5u",
    )
    classifier = heed.Classifier(tmp_path / "hops")
    assert classifier.classify("A dog runs.") in ("question", "statement")
    assert classifier.config["hops"] == 3
    assert type(classifier.attention("A dog runs.")) is heed.Attention
