#!/usr/bin/env python3
"""`heed serve` with the clients that people use: openai, libretranslatepy, prometheus_client's parser and curl.

Usage: serve_clients_test.py HEED ROOT. A client that is not installed is skipped with a line.
"""

import importlib
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from serve_support import Server, run_tests  # noqa: E402 pylint: disable=wrong-import-position

HEED, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def module_or_skip(name):
    """A module, or None with a line that says so."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: its test is skipped")
        return None


def test_openai(_folder, models, _sentences):
    openai = module_or_skip("openai")
    if openai is None:
        return
    server = Server(HEED, models)
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)
    assert sorted(model.id for model in client.models.list()) == ["en-zh", "text", "vectors"]
    given = {"model": "text", "temperature": 0, "max_tokens": 6}
    whole = client.completions.create(prompt="a dog", logprobs=1, **given)
    assert whole.usage.completion_tokens == len(whole.choices[0].logprobs.tokens)
    parts = list(client.completions.create(prompt="a dog", stream=True, **given))
    assert "".join(part.choices[0].text for part in parts) == whole.choices[0].text
    messages = [{"role": "user", "content": "the cat"}]
    answer = client.chat.completions.create(messages=messages, n=2, seed=3, **{**given, "temperature": 1})
    assert len(answer.choices) == 2 and answer.choices[0].message.role == "assistant"
    stream = client.chat.completions.create(messages=messages, stream=True, stream_options={"include_usage": True}, **given)
    parts = list(stream)
    assert parts[-1].usage.total_tokens > 0 and parts[-2].choices[0].finish_reason in ("stop", "length")
    found = client.embeddings.create(model="vectors", input=["a dog", "the cat"])  # base64
    plain = client.embeddings.create(model="vectors", input="a dog", encoding_format="float")
    assert max(abs(a - b) for a, b in zip(found.data[0].embedding, plain.data[0].embedding)) < 1e-6
    for wrong, kind in ((lambda: client.completions.create(prompt="a", **{**given, "model": "none"}), openai.NotFoundError),
                        (lambda: client.completions.create(prompt="a", **{**given, "n": 99}), openai.BadRequestError)):
        try:
            wrong()
            raise AssertionError("no error")
        except kind as error:
            assert error.body["message"], error
    assert server.stop() == 0


def test_libretranslatepy(_folder, models, sentences):
    module = module_or_skip("libretranslatepy")
    if module is None:
        return
    server = Server(HEED, models)
    client = module.LibreTranslateAPI(f"http://127.0.0.1:{server.port}/")
    expected = server.ask("/translate", {"q": sentences[0], "source": "en", "target": "zh"})["translatedText"]
    assert client.translate(sentences[0], "en", "zh") == expected
    assert client.languages()[0]["code"] == "en"
    assert server.stop() == 0


def test_prometheus(_folder, models, sentences):
    module = module_or_skip("prometheus_client.parser")
    if module is None:
        return
    server = Server(HEED, models)
    server.ask("/translate", {"q": sentences[:3], "target": "zh"})
    families = {family.name: family for family in module.text_string_to_metric_families(server.get("/metrics"))}
    samples = {tuple(sample.labels.values()): sample.value for sample in families["heed_tokens"].samples}
    assert samples[("en-zh", "read")] > 3
    seconds = []
    while not seconds:  # a request is counted after its answer, so the client may be faster
        families = {family.name: family for family in module.text_string_to_metric_families(server.get("/metrics"))}
        seconds = [s for s in families["heed_request_seconds"].samples
                   if s.name.endswith("_count") and s.labels == {"path": "/translate"}]
    assert seconds[0].value == 1
    assert families["heed_queue_length"].type == "gauge"
    assert server.stop() == 0


def test_curl(_folder, models, sentences):
    if shutil.which("curl") is None:
        print("curl is not installed: its test is skipped")
        return
    server = Server(HEED, models)
    place = f"http://127.0.0.1:{server.port}"
    run = lambda *words: subprocess.run(["curl", "-sS", *words], check=True, capture_output=True).stdout  # noqa: E731
    answer = run(f"{place}/translate", "-H", "Content-Type: application/json", "-d",
                 json.dumps({"q": sentences[0], "source": "en", "target": "zh"}))
    assert json.loads(answer)["translatedText"]
    assert json.loads(run(f"{place}/translate", "--data-urlencode", f"q={sentences[0]}", "-d", "target=zh"))[
        "translatedText"] == json.loads(answer)["translatedText"]
    stream = run("-N", f"{place}/v1/completions", "-d", '{"model": "text", "prompt": "a", "stream": true}')
    assert stream.endswith(b"data: [DONE]\n\n")
    assert server.stop() == 0


if __name__ == "__main__":
    run_tests(dict(globals()), HEED, ROOT)
