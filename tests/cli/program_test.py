#!/usr/bin/env python3
"""The program as a whole: output that cannot be written, and errors of the system.

Usage: program_test.py HEED.
"""

import json
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

HEED = sys.argv[1]


def run(*arguments, stdout=subprocess.PIPE, **options):
    """Runs heed to its end; its exit code, its output and its messages."""
    done = subprocess.run([HEED, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                          check=False, **options)
    return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


def test_output_that_cannot_be_written(folder):
    """An error in every verb, however little it prints."""
    words = folder / "words"
    words.write_text("the\ndog\n")
    text = folder / "text"
    text.write_text("the dog\n")
    golden = pathlib.Path(__file__).parent.parent / "golden"
    calls = (
        ["--help"], ["--version"], ["info"], ["list"], ["list", "--json"], ["list", "multi_head"],
        ["inspect", golden / "linear.safetensors"], ["vocab", "show", words], ["vocab", "show", words, "--list"],
        ["vocab", "train", text, "--kind", "words", "-o", folder / "made"],
        ["vocab", "encode", text, "--vocab", words],
        ["corpus", "check", text, text], ["score", text, "-i", text],
        ["see", "pattern", "multi_head", "-o", folder / "pattern.svg"], ["train", "--reference"], ["train", "--help"],
    )
    for call in calls:
        code, _, said = run(*call)
        assert code == 0, f"heed {call}: {said}"
        with open("/dev/full", "wb") as full:
            code, _, said = run(*call, stdout=full)
        # CLI11 flushes its own output, and the reason is lost.
        reason = "No space left on device" in said or "an earlier write failed" in said
        assert code == 1 and reason and "bug" not in said, f"heed {call}: {code} {said}"


def test_a_closed_output(_folder):
    done = subprocess.run(["sh", "-c", f'"{HEED}" info >&-'], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"cannot write to standard output" in done.stderr, done.stderr


def test_wrong_usage_stays_wrong_usage(_folder):
    with open("/dev/full", "wb") as full:
        assert run("inof", stdout=full)[0] == 2


def test_errors_of_the_system_are_no_bugs(folder):
    """Each is an error that names its path."""
    long = "x" * 300
    (folder / "file").write_text("x\n")
    for call in (["translate", "-m", long], ["average", "-m", long, "-o", folder / "a"], ["see", "curves", long, "-o", "c.svg"],
                 ["average", folder / "file", "-o", folder / "a"], ["demo", "--folder", folder / "file" / "below"]):
        code, _, said = run(*call)
        assert code == 1 and "bug" not in said, f"heed {call}: {code} {said}"
        assert long[:50] in said or "file" in said, said


def test_too_little_memory_says_so(folder):
    (folder / "text").write_text("the dog\n")
    sizes = ["--task=language", "--vocabulary.kind=words", "--language-model.embed=65536", "--language-model.heads=2"]
    limit = 4 << 30
    code, _, said = run("train", "--model", folder / "m", "--train-sets", folder / "text", *sizes,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert code == 1 and "[memory]" in said and "bug" not in said, said


def test_files_do_not_control_the_terminal(folder):
    """Names and values of a file are shown with escapes, also in errors."""
    header = {"__metadata__": {"note\x1b]0;title\x07": "\x9b2J\u202e"},
              "w\x1b[2J": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # data begins at a multiple of its element size
    (folder / "file").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    code, shown, said = run("inspect", folder / "file")
    assert code == 0 and "w\\x1b[2J" in shown and "\\x9b2J" in shown, (shown, said)
    assert not set(shown) & set("\x1b\x07\x9b\u202e"), repr(shown)
    text = text.replace(b"F32", b"F\\u001b")
    (folder / "file").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    code, shown, said = run("inspect", folder / "file")
    assert code == 1 and "\x1b" not in said, repr(said)
    code, _, said = run("inspect", folder / "no\x1b[2J")
    assert code == 1 and "\x1b" not in said, repr(said)


def main():
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
        print(f"{test.__name__}: fine")


main()
