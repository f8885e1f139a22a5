"""heed.train: configs of every form, the callback, and all ways to stop."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from small_models import press_ctrl_c, run_program, translator_config

import heed


@pytest.fixture
def config(tmp_path: pathlib.Path) -> dict[str, Any]:
    return {**translator_config(tmp_path), "model": str(tmp_path / "model")}


def weights_of(folder: pathlib.Path | str) -> bytes:
    return (pathlib.Path(folder) / "checkpoint_last" / "model.safetensors").read_bytes()


def test_trains_and_tells(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    events: list[dict[str, Any]] = []
    result = heed.train(config, callback=events.append, tensorboard=tmp_path / "events")
    assert (result.outcome, result.updates, result.folder) == ("finished", 60, config["model"])
    assert (result.metric, result.skipped) == ("loss", 0)
    kinds = [event["event"] for event in events]
    assert kinds.count("update") == 60 and kinds.count("validation") == 2
    assert kinds.index("note") < kinds.index("begin") < kinds.index("update")
    updates = [event for event in events if event["event"] == "update"]
    assert [event["update"] for event in updates] == list(range(1, 61))
    assert updates[-1]["loss"] < updates[0]["loss"] and not updates[0]["skipped"]
    assert updates[0]["target_tokens"] > 0 and updates[-1]["rate"] > 0
    validations = [event for event in events if event["event"] == "validation"]
    assert result.best == min(event["metrics"]["loss"] for event in validations)
    assert result.best_update == 60
    assert events[-1]["event"] == "save"
    assert events[-1]["folder"] == str(pathlib.Path(config["model"]) / "checkpoint_60")
    assert len(list((tmp_path / "events").iterdir())) == 1
    assert "finished after 60 updates" in repr(result)
    assert "update" in str(heed.plot.curves(result.folder))


def test_configs_of_every_form_are_one(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    short = {**config, "after": "3u"}
    heed.train(short)
    expected = weights_of(config["model"])

    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    heed.train(file, model=tmp_path / "from_file", after="3u")
    assert weights_of(tmp_path / "from_file") == expected

    flat = {key: value for key, value in config.items() if key not in ("schedule", "vocabulary")}
    heed.train(
        {**flat, "model": "overridden"},
        model=str(tmp_path / "from_keywords"),
        schedule__peak=np.float32(0.5),
        peak=0.01,
        schedule={"warmup": np.int64(20)},
        vocabulary__kind="characters",
        after="3u",
    )
    assert weights_of(tmp_path / "from_keywords") == expected

    heed.train(**{**short, "model": tmp_path / "alone"})
    assert weights_of(tmp_path / "alone") == expected


def test_is_what_the_program_does(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    run_program("train", "-c", str(file), "--model", str(tmp_path / "program"), "--after", "5u")
    heed.train(config, after="5u")
    assert weights_of(config["model"]) == weights_of(tmp_path / "program")


def test_the_callback_stops_and_resume_goes_on(
    config: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    straight = heed.train(config, model=tmp_path / "straight", after="20u")
    stopped = heed.train(config, after="20u", callback=lambda event: event.get("update") != 7)
    assert (stopped.outcome, stopped.updates, stopped.best) == ("stopped", 7, None)
    with pytest.raises(heed.Error, match="resume"):
        heed.train(config)
    notes: list[str] = []
    again = heed.train(
        model=config["model"], resume=True, callback=lambda event: notes.append(event.get("text"))
    )
    assert "going on from update 7" in notes
    assert (again.outcome, again.updates) == ("finished", 20)
    assert weights_of(again.folder) == weights_of(straight.folder)


def test_only_false_stops(config: dict[str, Any]) -> None:
    answers = iter([None, 0, "", [], True] * 20)
    assert heed.train(config, after="5u", callback=lambda _: next(answers)).updates == 5


@pytest.mark.parametrize("event", ["note", "begin", "update", "validation", "save"])
def test_what_the_callback_raises_is_raised(config: dict[str, Any], event: str) -> None:
    seen: list[str] = []

    def callback(told: dict[str, Any]) -> None:
        seen.append(told["event"])
        if told["event"] == event:
            raise RuntimeError("that was " + event)

    with pytest.raises(RuntimeError, match="that was " + event):
        heed.train(config, after="3u", valid_freq="2u", save_freq="2u", callback=callback)
    assert seen.count(event) == 1 and seen[-1] == event
    assert weights_of(config["model"])
    assert heed.train(config, after="3u", resume=True).outcome == "finished"


def test_ctrl_c_saves(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    script = """
import heed
try:
    heed.train("config.json", after="0", save_freq="0", valid_freq="0", callback=lambda event:
               print("ready") if event.get("update") == 1 else None)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert press_ctrl_c(script, tmp_path) == "interrupted\n"
    assert weights_of(config["model"])


def test_signals_change_nothing(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """A handler that interrupts training a thousand times a second, as profilers do."""
    quiet = heed.train(config, model=tmp_path / "quiet", after="60u")
    (tmp_path / "config.json").write_text(json.dumps(config))
    script = """
import signal
import subprocess
import sys
import heed
caught = 0
def count(number, frame):
    global caught
    caught += 1
signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
heed.train("config.json", after="60u")
signal.setitimer(signal.ITIMER_REAL, 0)
print(caught > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert weights_of(config["model"]) == weights_of(quiet.folder)


def test_ctrl_c_ends_the_reading_of_a_corpus(tmp_path: pathlib.Path) -> None:
    script = """
import os, subprocess
import heed
os.mkfifo("endless")
with subprocess.Popen("yes some words > endless", shell=True):
    print("ready")
    try:
        heed.train(task="language", model="m", train_sets=["endless"], vocabulary={"kind": "words"})
    except KeyboardInterrupt:
        print("interrupted")
"""
    assert press_ctrl_c(script, tmp_path) == "interrupted\n"
    assert not (tmp_path / "m" / "train.toml").exists()


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("cpu_threads", 2**32 + 1, "from 0 to 1024"),
        ("batch_sentences", 2**63 - 1, "from 0 to 1048576"),
        ("validation__search__beam_size", 2**63 - 1, "from 1 to 1000"),
        ("validation__search__temperature", 1e-39, "from 1e-30 to 1e.30"),
    ],
)
def test_numbers_out_of_range_are_named(
    config: dict[str, Any], key: str, value: float, allowed: str
) -> None:
    with pytest.raises(heed.Error, match=f"{key.split('__')[-1]} is .*: it must be {allowed}"):
        heed.train(config, **{key: value})
    assert not pathlib.Path(config["model"]).exists()


def test_other_handlers_are_honoured(config: dict[str, Any]) -> None:
    """A handler that raises nothing lets training go on."""
    calls: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: calls.append(number))
    try:
        started = threading.Event()
        sender = threading.Thread(
            target=lambda: started.wait(60) and signal.pthread_kill(main, signal.SIGUSR1)
        )
        main = threading.main_thread().ident
        assert main is not None
        sender.start()
        result = heed.train(config, after="200u", callback=lambda event: started.set())
        sender.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert result.outcome == "finished" and calls == [signal.SIGUSR1]


def test_other_threads_run_meanwhile(config: dict[str, Any]) -> None:
    done = threading.Event()
    training = threading.Thread(target=lambda: (heed.train(config), done.set()))
    training.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    training.join()
    assert turns > 20


def test_threads_are_as_before(config: dict[str, Any]) -> None:
    before = heed.get_num_threads()
    seen: list[int] = []
    heed.train(
        config,
        after="1u",
        cpu_threads=before + 1,
        callback=lambda event: seen.append(heed.get_num_threads()),
    )
    assert before + 1 in seen and heed.get_num_threads() == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modle": "x"}, 'unknown key "modle": did you mean "model"'),
        ({"batch_tokens": "many"}, "batch_tokens must be an integer"),
        ({"schedule": {"paek": 1}}, "schedule.p"),
        ({"schedule__paek": 1}, "schedule.p"),
        ({"schedule": 3}, "schedule must be a table"),
        ({"train_sets": ["none.en", "none.zh"]}, "none.en"),
        ({"stop_on": "bleu"}, "stop_on"),
        ({"after": "soon"}, "after"),
        ({"batch_tokens": 2**70}, "64 bits"),
    ],
)
def test_mistakes_of_configs(config: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(heed.Error, match=message):
        heed.train(config, **changes)
    if not any("__" in key for key in changes):
        with pytest.raises(ValueError, match=message):
            heed.train({**config, **changes})


def test_mistakes_of_arguments(config: dict[str, Any], tmp_path: pathlib.Path) -> None:
    with pytest.raises(heed.Error, match="no folder"):
        heed.train()
    with pytest.raises(heed.Error, match="absent.toml"):
        heed.train(tmp_path / "absent.toml")
    with pytest.raises(TypeError, match="config"):
        heed.train(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="callback"):
        heed.train(config, callback=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="schedule.peak"):
        heed.train(config, schedule={"peak": object()})
    with pytest.raises(TypeError, match="key"):
        heed.train({1: 2})  # type: ignore[dict-item]
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(heed.Error, match="nested deeper than 64"):
        heed.train({"train_sets": endless})
    assert not pathlib.Path(config["model"]).exists()


def test_a_text_that_sentencepiece_cannot_learn_from_is_an_error(tmp_path: pathlib.Path) -> None:
    """SentencePiece calls exit() for some texts, which must not end the interpreter."""
    for text in ("\ufffd\ufffd\n", "\u2800\n", "\U0010ffff\n", "a\n"):
        (tmp_path / "text").write_text(text, encoding="utf-8")
        with pytest.raises(heed.Error, match="sentencepiece"):
            heed.train(
                task="language",
                model=tmp_path / "model",
                train_sets=[tmp_path / "text"],
                vocabulary={"kind": "sentencepiece", "size": 6000},
            )


def test_grammar_corpus(tmp_path: pathlib.Path) -> None:
    corpus = heed.grammar_corpus(30, held_out=5, seed=3)
    assert len(set(corpus.training)) == 30 and len(corpus.held_out) == 5
    assert not set(corpus.training) & set(corpus.held_out)
    assert corpus.training == heed.grammar_corpus(30, held_out=5, seed=3).training
    assert corpus.training != heed.grammar_corpus(30, held_out=5, seed=4).training
    corpus.write(tmp_path / "g")
    english = (tmp_path / "g.en").read_text(encoding="utf-8").splitlines()
    chinese = (tmp_path / "g.test.zh").read_text(encoding="utf-8").splitlines()
    assert english == [pair[0] for pair in corpus.training]
    assert chinese == [pair[1] for pair in corpus.held_out]
    assert len((tmp_path / "g.align").read_text().splitlines()) == 30
    with pytest.raises(heed.Error, match="below 0"):
        heed.grammar_corpus(-1)
