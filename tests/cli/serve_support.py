"""Small models and a running `heed serve` for the tests of the server."""

import http.client
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

WORDS = "[PAD] [UNK] [MASK] [CLS] [SEP] a the dog cat runs sleeps".split()
ENCODER = {
    "added_tokens": [{"id": i, "content": word, "special": True} for i, word in enumerate(WORDS[:5])],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 3], "sep": ["[SEP]", 4]},
    "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {word: i for i, word in enumerate(WORDS)}},
}
TEXT_WORDS = ["<unk>", "<s>", "</s>", "a", "the", "dog", "cat", "user", "assistant", ":"]
TEXT_WORDS += [f"w{i}" for i in range(67 - len(TEXT_WORDS))]
TEXT = {
    "added_tokens": [{"id": i, "content": word, "special": True} for i, word in enumerate(TEXT_WORDS[:3])],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": {word: i for i, word in enumerate(TEXT_WORDS)}},
}
TEMPLATE = "{% for m in messages %}{{ m.role }} : {{ m.content }} {% endfor %}assistant :"


def make_models(heed, root, folder):
    """A translator `en-zh`, a language model `text` and a sentence encoder `vectors`, all random."""
    run = lambda *words: subprocess.run([heed, *map(str, words)], check=True, capture_output=True)  # noqa: E731
    corpus = folder / "corpus"
    run("corpus", "grammar", "-n", 300, "--held-out", 30, "--seed", 2, "-o", corpus)
    run("train", "--model", folder / "en-zh", "--train-sets", f"{corpus}.en", f"{corpus}.zh", "--after=5u",
        "--vocabulary.size=500", "--transformer.embed=16", "--transformer.heads=2", "--transformer.hidden=16",
        "--encoder-layers=2", "--decoder-layers=2")
    for name, golden, tokenizer in (("text", "llama", TEXT), ("vectors", "bert", ENCODER)):
        (folder / name).mkdir()
        for file in ("config.json", "model.safetensors"):
            shutil.copy(root / "tests" / "golden" / "hf" / golden / file, folder / name / file)
        (folder / name / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "text" / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    sentences = (folder / "corpus.test.en").read_text(encoding="utf-8").splitlines()
    return [f"{name}={folder / name}" for name in ("en-zh", "text", "vectors")], sentences


RUNNING = []  # processes, so that none outlives a test that fails


class Server:
    """A process of `heed serve` on a free port of the loopback address."""

    def __init__(self, heed, models, *flags):
        self.log = tempfile.TemporaryFile("w+b")  # pylint: disable=consider-using-with
        words = [heed, "serve", "--port", "0", *(w for m in models for w in ("--model", m)), *map(str, flags)]
        self.process = subprocess.Popen(words, stderr=self.log)  # pylint: disable=consider-using-with
        RUNNING.append(self.process)
        self.port = self.wait_for_port()

    def said(self):
        """What it has printed."""
        self.log.seek(0)
        return self.log.read().decode()

    def wait_for_port(self):
        """Its port, as soon as it listens."""
        while True:
            said = self.said()
            if "serving " in said and said.find("\n", said.index("serving ")) >= 0:
                line = said[said.index("serving "):].splitlines()[0]
                return int(line.rsplit(":", 1)[1])
            assert self.process.poll() is None, said
            try:
                self.process.wait(0.02)
            except subprocess.TimeoutExpired:
                pass

    def call(self, method, path, body=None, **headers):
        """One request on a connection of its own: status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, data, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def ask(self, path, body, status=200, **headers):
        """The JSON answer to a POST, whose status must be that."""
        found, _, content = self.call("POST", path, body, **headers)
        assert found == status, (path, body, found, content)
        return json.loads(content)

    def get(self, path, status=200, **headers):
        """The text of a GET."""
        found, _, content = self.call("GET", path, **headers)
        assert found == status, (path, found, content)
        return content.decode()

    def wait_for_metrics(self, *lines):
        """Waits until /metrics has these lines: a request is counted after its answer, so a client may be faster."""
        end = time.monotonic() + 60
        while not all(line in self.get("/metrics") for line in lines):
            assert time.monotonic() < end, (lines, self.get("/metrics"))

    def raw(self, data):
        """Bytes sent as they are; all that comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before all was sent
            return read_all(connection)

    def stop(self, signal_number=signal.SIGTERM):
        """Ends it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.process.wait(60)


def read_all(connection):
    """All bytes until the end of a connection."""
    content = b""
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            return content
        if not part:
            return content
        content += part


def events(content):
    """The data of server-sent events."""
    found = [line[len("data: "):] for line in content.decode().split("\n\n") if line.startswith("data: ")]
    assert found[-1] == "[DONE]", content
    return [json.loads(text) for text in found[:-1]]


def run_tests(names, heed, root):
    """Runs the functions test_* of a module with a folder of models."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        models, sentences = make_models(heed, root, folder)
        try:
            for name, test in names.items():
                if name.startswith("test_"):
                    test(folder, models, sentences)
                    print(f"{name}: passed", flush=True)
        finally:
            for process in RUNNING:
                process.kill()
