#!/usr/bin/env python3
"""What `heed train` shows: a bar that fits the terminal, JSON that reads back, and one process to a folder.

Usage: train_log_test.py HEED
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios

HEED = sys.argv[1]
COLUMNS = 60
FLAGS = ("--vocabulary.kind=characters --transformer.embed=16 --transformer.heads=2 --transformer.hidden=32 "
         "--encoder-layers=1 --decoder-layers=1 --batch-tokens=400 --peak=0.01 --warmup=10 --cpu-threads=1 "
         "--valid-freq=20u --save-freq=20u").split()
KEYS = {
    "note": {"text"},
    "begin": {"update"},
    "update": {"update", "epoch", "loss", "perplexity", "rate", "norm", "source_tokens_per_second",
               "target_tokens_per_second", "skipped"},
    "validation": {"update", "epoch", "metrics", "best", "stalled", "seconds"},
    "save": {"folder"},
    "end": {"outcome", "update", "skipped"},
}


def train(model, *flags):
    """The command to train into a folder."""
    sets = ["--train-sets", "g.en", "g.zh", "--valid-sets", "g.test.en", "g.test.zh"]
    return [HEED, "train", "--model", model, *sets, *FLAGS, *flags]


def on_terminal(command, stop_at=None):
    """What a command shows on a narrow terminal, and how it ends; Ctrl-C when it shows these bytes."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is gone
            piece = b""
        if not piece:
            break
        shown += piece
        if stop_at and stop_at in shown:
            os.write(terminal, b"\x03")
            stop_at = None
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def check_bar():
    """Every state of the bar fits, lines stand above it, and its last state stays."""
    shown, code = on_terminal(train("bar", "--after=60u"))
    assert code == 0, shown
    bars = [part for part in re.split(r"[\r\n]+|\x1b\[K", shown) if re.match(r"(━|╌|epoch [0-9.]+  [0-9]+/)", part)]
    assert bars and all(len(bar) < COLUMNS for bar in bars), bars
    last = shown.splitlines()[-2].rpartition("\x1b[K")[2]
    assert re.fullmatch(r"epoch [0-9.]+  60/60  loss [0-9.]+  ppl [0-9.]+(  [0-9]+ tok/s)?  [0-9:]+( s)?", last), last
    assert re.search(r"\x1b\[Kepoch [0-9.]+  update 40  validation", shown), shown
    assert re.search(r"\x1b\[Ksaved bar/checkpoint_40\r\n", shown), shown


def check_interrupt():
    """Ctrl-C saves and ends well."""
    shown, code = on_terminal(train("stopped", "--after=100Ku"), stop_at=b"loss")
    assert code == 0 and "interrupted; --resume goes on" in shown, shown
    assert shown.endswith("\n")
    assert (pathlib.Path("stopped") / "checkpoint_last" / "progress.json").is_file()


def check_json():
    """Every line is an object with the keys that the documents name."""
    done = subprocess.run(train("json", "--after=45u", "--log-format=json", "--disp-freq=10"), capture_output=True,
                          text=True, check=True)
    assert done.stderr == "", done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        assert set(line) == KEYS[line["event"]] | {"event"}, line
    assert {line["event"] for line in lines} == set(KEYS)
    assert [line["update"] for line in lines if line["event"] == "update"] == [10, 20, 30, 40]
    assert lines[-1] == {"event": "end", "outcome": "finished", "update": 45, "skipped": 0}


def check_lock():
    """A second process is told who is there; after kill -9 the folder is free."""
    with subprocess.Popen(train("locked", "--after=100Ku"), stderr=subprocess.PIPE, text=True) as first:
        assert any("saved" in line for line in first.stderr)
        second = subprocess.run([HEED, "train", "--model", "locked", "--resume"], capture_output=True, text=True,
                                check=False)
        assert second.returncode == 1 and f"process {first.pid} is using locked" in second.stderr, second.stderr
        first.send_signal(signal.SIGKILL)
    third = subprocess.run([HEED, "train", "--model", "locked", "--resume", "--after=1u"], capture_output=True,
                           text=True, check=False)
    assert third.returncode == 0, third.stderr


def main():
    """Runs all checks beside one small corpus."""
    with tempfile.TemporaryDirectory(prefix="heed-log-") as name:
        os.chdir(name)
        subprocess.run([HEED, "corpus", "grammar", "-n", "300", "--held-out", "20", "--seed", "1", "-o", "g"],
                       check=True, capture_output=True)
        for check in (check_bar, check_interrupt, check_json, check_lock):
            check()
        os.chdir("/")


if __name__ == "__main__":
    main()
