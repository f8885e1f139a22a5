#!/usr/bin/env python3
"""`heed serve` as a process: every path, streams, keys, limits, signals and what is no valid HTTP.

Usage: serve_test.py HEED ROOT. All traffic stays on the loopback address.
"""

import base64
import concurrent.futures
import itertools
import json
import pathlib
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from serve_support import Server, events, read_all, run_tests  # noqa: E402 pylint: disable=wrong-import-position

HEED, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def running(models, *flags):
    """A server that the caller stops."""
    return Server(HEED, models, *flags)


def test_translate(folder, models, sentences):
    """The same translations as the filter, for a text, a list, a form and many clients at once."""
    given = "".join(line + "\n" for line in sentences)
    expected = subprocess.run([HEED, "translate", "--model", folder / "en-zh"], input=given.encode(),
                              capture_output=True, check=True).stdout.decode().splitlines()
    server = running(models)
    body = {"q": sentences, "source": "en", "target": "zh"}
    assert server.ask("/translate", body)["translatedText"] == expected
    one = {"q": sentences[0], "source": "auto", "target": "zh", "alternatives": 2}
    answer = server.ask("/translate", one)
    assert answer["translatedText"] == expected[0] and len(answer["alternatives"]) == 2
    assert answer["detectedLanguage"]["language"] == "en"
    form = server.call("POST", "/translate", f"q={sentences[0].replace(' ', '+')}&source=en&target=zh",
                       Content_Type="application/x-www-form-urlencoded")
    assert json.loads(form[2]) == {"translatedText": expected[0]}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = pool.map(lambda text: server.ask("/translate", {**body, "q": text})["translatedText"], sentences)
        assert list(found) == expected, "an answer does not depend on what else is being served"
    html = server.ask("/translate", {**body, "q": f"<p title='a>b'>{sentences[0]}</p><br/>&lt;", "format": "html"})
    assert html["translatedText"].startswith(f"<p title='a>b'>{expected[0]}</p><br/>"), html
    lines = server.ask("/translate", {**body, "q": f"\n{sentences[0]}\n\n{sentences[1]}"})
    assert lines["translatedText"] == f"\n{expected[0]}\n\n{expected[1]}"
    assert server.ask("/translate", {**body, "q": ""})["translatedText"] == ""
    languages = json.loads(server.get("/languages"))
    assert languages == [{"code": "en", "name": "English", "targets": ["zh"]}]
    assert json.loads(server.get("/frontend/settings"))["keyRequired"] is False
    assert "supported" in server.ask("/translate", {**body, "target": "xx"}, 400)["error"]
    assert server.stop() == 0


def test_openai(_folder, models, _sentences):
    """Completions, chats and vectors, whole and streamed."""
    server = running(models)
    names = {model["id"]: model["task"] for model in json.loads(server.get("/v1/models"))["data"]}
    assert names == {"en-zh": "translate", "text": "language", "vectors": "embed"}
    body = {"model": "text", "prompt": "a dog", "max_tokens": 8, "temperature": 0, "logprobs": 1}
    whole = server.ask("/v1/completions", body)
    text = whole["choices"][0]["text"]
    assert whole["usage"]["completion_tokens"] == len(whole["choices"][0]["logprobs"]["tokens"]) <= 8
    assert "".join(whole["choices"][0]["logprobs"]["tokens"]).strip() == text.strip()
    status, headers, content = server.call("POST", "/v1/completions", {
        **body, "stream": True, "stream_options": {"include_usage": True}})
    parts = events(content)
    assert status == 200 and headers["Content-Type"] == "text/event-stream"
    assert "".join(part["choices"][0]["text"] for part in parts if part["choices"]) == text
    assert parts[-1]["usage"] == whole["usage"] and parts[-2]["choices"][0]["finish_reason"] in ("stop", "length")
    nulls = dict.fromkeys(("n", "stream", "stream_options", "stop", "user", "seed", "top_p", "logprobs"))
    assert server.ask("/v1/completions", {**body, **nulls})["choices"][0]["text"] == text, "null is the default"
    sample = {**body, "temperature": 1.5, "seed": 7, "n": 3, "prompt": ["a dog", "the cat"]}
    del sample["logprobs"]
    first, second = (server.ask("/v1/completions", sample)["choices"] for _ in range(2))
    assert first == second and len(first) == 6 and [c["index"] for c in first] == list(range(6))
    alone = server.ask("/v1/completions", {**sample, "prompt": "the cat", "n": 1})["choices"][0]["text"]
    assert alone == first[3]["text"], "a prompt of a list has the answer that it has alone"
    stop = text.split()[1]
    stopped = server.ask("/v1/completions", {**body, "stop": stop})["choices"][0]
    assert stop not in stopped["text"] and stopped["finish_reason"] == "stop"
    chat = {"model": "text", "messages": [{"role": "user", "content": "a dog"}], "max_tokens": 5, "temperature": 0}
    answer = server.ask("/v1/chat/completions", {**chat, "logprobs": True, "top_logprobs": 1})["choices"][0]
    parts = events(server.call("POST", "/v1/chat/completions", {**chat, "stream": True})[2])
    assert parts[0]["choices"][0]["delta"]["role"] == "assistant"
    assert "".join(p["choices"][0]["delta"].get("content", "") for p in parts) == answer["message"]["content"]
    vectors = server.ask("/v1/embeddings", {"model": "vectors", "input": ["a dog runs", "the cat"]})
    packed = server.ask("/v1/embeddings", {"model": "vectors", "input": "a dog runs", "encoding_format": "base64"})
    numbers = struct.unpack("<16f", base64.b64decode(packed["data"][0]["embedding"]))
    assert len(vectors["data"]) == 2 and [struct.unpack("<f", struct.pack("<f", x))[0]
                                          for x in vectors["data"][0]["embedding"]] == list(numbers)
    assert vectors["usage"]["prompt_tokens"] == 9
    for path, wrong, status, word in (
            ("/v1/completions", {**body, "model": "none"}, 404, "none"),
            ("/v1/completions", {**body, "model": "vectors"}, 400, "no language model"),
            ("/v1/completions", {**body, "max_tokens": 5000}, 400, "positions"),
            ("/v1/completions", {**body, "temperature": 3}, 400, "temperature"),
            ("/v1/completions", {**body, "tempersture": 1}, 400, "did you mean"),
            ("/v1/completions", {**body, "prompt": [1, 2]}, 400, "string"),
            ("/v1/completions", {**body, "temperature": 1}, 400, "temperature of 0"),
            ("/v1/chat/completions", {**chat, "messages": []}, 400, "messages"),
            ("/v1/chat/completions", {**chat, "messages": [{"role": "user"}]}, 400, "content"),
            ("/v1/embeddings", {"model": "vectors", "input": []}, 400, "input"),
            ("/v1/embeddings", {"model": "text", "input": "a"}, 400, "sentence encoder")):
        error = server.ask(path, wrong, status)["error"]
        assert word in error["message"] and error["type"] == "invalid_request_error", error
    assert server.stop() == 0


def test_attention(_folder, models, sentences):
    """Weights of the chosen layers and heads, in all forms."""
    server = running(models)
    body = {"model": "en-zh", "input": sentences[0]}
    view = server.ask("/v1/attention", {**body, "kinds": ["cross"], "layers": [2], "heads": [1]})
    part = view["parts"][0]
    assert [part["kind"], part["layers"]] == ["cross", [2]] and len(view["parts"]) == 1
    weights = part["weights"][0][0]
    assert len(weights) == len(part["rows"]) and len(weights[0]) == len(part["columns"])
    assert all(abs(sum(row) - 1) < 1e-4 for row in weights)
    assert view["result"] == server.ask("/translate", {"q": sentences[0], "target": "zh"})["translatedText"]
    packed = server.ask("/v1/attention", {**body, "format": "packed"})
    assert [p["kind"] for p in packed["parts"]] == ["encoder", "decoder", "cross"]
    size = len(packed["parts"][2]["rows"]) * len(packed["parts"][2]["columns"])
    assert len(base64.b64decode(packed["alignment"])) == 2 * size
    assert all(abs(sum(row) - 1) < 1e-4 for row in view["alignment"])
    given = server.ask("/v1/attention", {**body, "result": "她有一只狗。", "format": "packed"})
    assert given["result"].replace(" ", "") == "她有一只狗。"
    status, headers, content = server.call("POST", "/v1/attention", {**body, "format": "safetensors"})
    length = struct.unpack("<Q", content[:8])[0]
    assert status == 200 and headers["Content-Type"] == "application/octet-stream"
    assert "cross.2" in json.loads(content[8:8 + length])
    for model in ("text", "vectors"):
        assert server.ask("/v1/attention", {"model": model, "input": "a dog"})["parts"][0]["weights"]
    assert "layer 9" in server.ask("/v1/attention", {**body, "layers": [9]}, 400)["error"]["message"]
    assert "no tokens" in server.ask("/v1/attention", {**body, "input": " "}, 400)["error"]["message"]
    assert server.stop() == 0


def test_service_paths(_folder, models, _sentences):
    """Health, metrics, the description, the page, methods and CORS."""
    server = running(models, "--cors", "https://example.org")
    assert server.get("/healthz") == "ok\n" and server.get("/readyz") == "ready\n"
    server.ask("/translate", {"q": "x", "target": "zh"})
    server.wait_for_metrics("heed_requests_total", "heed_request_seconds_bucket", "heed_queue_length", "heed_tokens_total",
                            "heed_batch_requests_count", "process_resident_memory_bytes")
    described = json.loads(server.get("/openapi.json"))
    fields = described["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]["application/json"]
    assert fields["schema"]["properties"]["temperature"]["maximum"] == 2
    assert "<html" in server.get("/") and server.get("/none", 404)
    status, headers, content = server.call("HEAD", "/healthz")
    assert status == 200 and not content and headers["Content-Length"] == "3"
    status, headers, _ = server.call("PUT", "/translate", "x")
    assert status == 405 and "POST" in headers["Allow"]
    status, headers, _ = server.call("OPTIONS", "/translate", Origin="https://example.org")
    assert status == 204 and headers["Access-Control-Allow-Origin"] == "https://example.org"
    assert "Access-Control-Allow-Origin" not in server.call("GET", "/healthz", Origin="https://evil.example")[1]
    assert server.stop() == 0
    lines = [json.loads(line) for line in server.said().splitlines() if line.startswith("{")]
    assert [line["path"] for line in lines][:2] == ["/healthz", "/readyz"]
    assert {line["status"] for line in lines} == {200, 404, 405, 204} and all(line["ms"] >= 0 for line in lines)


def test_malformed(_folder, models, _sentences):
    """What is no valid request is told so, or the connection is closed; the server goes on."""
    server = running(models)
    post = b"POST /translate HTTP/1.1\r\nHost: x\r\n"
    for data, status in (
            (b"GARBAGE\r\n\r\n", 400), (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400), (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), (b"GET healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            (post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            (post + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
            (post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", 400),
            (post + b"Content-Length: -5\r\n\r\n", 400), (post + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
            (post + b"Content-Length: 1000000000\r\n\r\n", 413), (post + b"Transfer-Encoding: gzip\r\n\r\nx", 400),
            (post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", 400),
            (post + b"Transfer-Encoding: chunked\r\n\r\n" + b"fffff\r\n" + b"a" * 0xfffff + b"\r\n" + b"fffff\r\n", 413),
            (post + b"X: " + b"a" * 20000 + b"\r\n\r\n", 431), (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n", 431),
            (post + b"X : y\r\nContent-Length: 0\r\n\r\n", 400), (post + b"Content-Length: 3\r\n\r\n{}", None)):
        answer = server.raw(data)
        assert (answer == b"" if status is None else answer.startswith(b"HTTP/1.1 %d " % status)), (data[:80], answer[:80])
    for bad in (b"", b"{", b"[1]", b"null", b'{"q": NaN}', b'{"q": "\xff"}', b"[" * 100000, b'{"q":' * 1000,
                b'{"q": 1, "target": "zh"}', b'{"q": {"a": 1}}', b'{"q": "a", "q": "b"}', b'{"q": ["a", 1]}', b'"\\ud800"',
                b'{"q": "a", "target": "zh", "alternatives": 1e400}', b'{"q": "a", "target": "zh", "alternatives": -1}'):
        assert server.ask("/translate", bad, 400)["error"], bad
    two = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", server.port)) as both:
            both.sendall(two + two)
            both.shutdown(socket.SHUT_WR)
            answers = read_all(both)
            assert answers.count(b"HTTP/1.1 200 OK") == 2, ("requests may follow at once, and the end too", answers)
    assert b"Connection: close" in server.raw(b"GET /healthz HTTP/1.0\r\n\r\n")
    status, _, content = server.call("POST", "/translate", {"q": "a", "target": "zh"}, Expect="100-continue")
    assert status in (100, 200), content
    assert server.stop() == 0


def test_slow_clients(_folder, models, _sentences):
    """Each limit of time on a server where the others are far away."""
    for flag, data, answer in (("--header-seconds", b"GET /healthz HT", b"HTTP/1.1 408 "),
                               ("--body-seconds", b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
                                b"HTTP/1.1 408 "),
                               ("--idle-seconds", b"", b"")):
        server = running(models, f"{flag}=0.3")
        with socket.create_connection(("127.0.0.1", server.port)) as slow:
            slow.sendall(data)
            found = read_all(slow)
            assert found.startswith(answer) if answer else found == b"", (flag, found)
        assert server.stop() == 0


def test_large_texts(_folder, models, _sentences):
    """Texts that are hard to read do not occupy the server: too large ones are refused unread."""
    server = running(models)
    for size, part in itertools.product((900_000, 60_000), ("a", "Aa. ", "a.", "&", "<a ", "&#", ". ")):
        text = part * (size // len(part))
        for path, body in (("/translate", {"q": text, "target": "zh", "format": "html"}),
                           ("/v1/completions", {"model": "text", "prompt": text}),
                           ("/v1/chat/completions", {"model": "text", "messages": [{"role": "user", "content": text}]}),
                           ("/v1/embeddings", {"model": "vectors", "input": text}),
                           ("/v1/attention", {"model": "en-zh", "input": text})):
            began = cpu_seconds(server)
            status = server.call("POST", path, body)[0]
            assert status in (200, 400) and cpu_seconds(server) - began < 10, (part, path, status)
    many = {"model": "text", "messages": [{"role": "user", "content": "a"}] * 20000}
    assert server.call("POST", "/v1/chat/completions", many)[0] == 400
    form = "&".join(["q=a"] * 100000) + "&target=zh"
    assert server.call("POST", "/translate", form, Content_Type="application/x-www-form-urlencoded")[0] in (200, 400)
    assert server.stop() == 0


def cpu_seconds(server):
    """The processor time of the server so far."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def states(server):
    """The states of all threads: S for one that sleeps."""
    return [stat.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
            for stat in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/stat")]


def known_connection(port):
    """A connection that the server has accepted; connections that were closed may count for a moment."""
    for _ in range(200):
        connection = socket.create_connection(("127.0.0.1", port))
        try:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            if connection.recv(100).startswith(b"HTTP/1.1 200"):
                return connection
        except ConnectionError:
            pass  # refused, and closed before the answer was read
        connection.close()
        time.sleep(0.05)
    raise AssertionError("connections that are closed are not forgotten")


def test_limits(_folder, models, _sentences):
    """Over the limit: told so at once, with the right status; accepted requests are finished."""
    server = running(models, "--queue=2", "--requests-per-client=4", "--texts=3", "--source-tokens=50",
                     "--body-bytes=2000", "--connections-per-address=5")
    body = {"q": ["a dog", "a cat", "a"], "target": "zh"}
    status, headers, _ = server.call("POST", "/translate", body)
    assert status == 400 and "Retry-After" not in headers, "three texts never fit into a queue of two"
    assert "3 in a request" in server.ask("/translate", {**body, "q": ["a"] * 4}, 400)["error"]
    assert "tokens" in server.ask("/translate", {**body, "q": "a dog " * 60}, 400)["error"]
    assert server.ask("/translate", {**body, "q": "a" * 3000}, 413)["error"]
    idle = [known_connection(server.port) for _ in range(5)]
    with socket.create_connection(("127.0.0.1", server.port)) as sixth:
        assert read_all(sixth).startswith(b"HTTP/1.1 503 ")
    for connection in idle:
        connection.close()
    assert server.stop() == 0
    server = running(models, "--buffer-megabytes=1")
    half = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
    for connection in half:  # bodies that are not complete
        try:
            connection.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b"a" * 600000)
        except OSError:
            pass  # refused before all was sent
    while not select.select(half, [], [], 10)[0]:
        pass
    told = select.select(half, [], [], 0)[0][0]
    assert read_all(told).startswith(b"HTTP/1.1 503 ")
    assert server.get("/healthz")
    for connection in half:
        connection.close()
    server.ask("/translate", {"q": "a", "target": "zh"})
    assert server.stop() == 0
    server = running(models, "--per-minute=3")
    found = [server.call("POST", "/translate", {"q": "a", "target": "zh"})[:2] for _ in range(5)]
    assert [status for status, _ in found] == [200, 200, 200, 429, 429] and int(found[-1][1]["Retry-After"]) > 1
    server.wait_for_metrics('heed_refusals_total{cause="rate"} 2')
    assert server.stop() == 0


def test_keys(folder, models, _sentences):
    """A key in any of its places; a wrong one is refused, and too many are."""
    made = subprocess.run([HEED, "serve", "--new-key", "alice"], capture_output=True, check=True)
    key = made.stderr.decode().split("the key of alice is ")[1].split()[0]
    assert key not in made.stdout.decode()
    (folder / "keys").write_bytes(made.stdout)
    server = running(models, "--keys", folder / "keys", "--bad-keys-per-minute=3")
    body = {"q": "a dog", "target": "zh"}
    server.ask("/translate", {**body, "api_key": key})
    server.ask("/translate", body, X_API_Key=key)
    server.ask("/translate", body, Authorization=f"Bearer {key}")
    assert "key" in server.ask("/translate", body, 403)["error"]
    assert server.get("/healthz") and json.loads(server.get("/frontend/settings"))["keyRequired"]
    chat = {"model": "text", "prompt": "a"}
    assert server.ask("/v1/completions", chat, 401, Authorization=f"Bearer {key}x")["error"]["code"] == "invalid_api_key"
    statuses = [server.call("POST", "/v1/completions", chat, Authorization="Bearer no")[0] for _ in range(5)]
    assert statuses[-1] == 429 and set(statuses) == {401, 429}, statuses
    assert server.stop() == 0
    assert '"client":"alice"' in server.said() and key not in server.said()


def test_gone_clients(_folder, models, _sentences):
    """A client that leaves ends its work; one that does not read holds nothing."""
    server = running(models)
    request = json.dumps({"model": "text", "prompt": "a", "max_tokens": 60, "stream": True, "n": 16})
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as gone:
            gone.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(request)}\r\n\r\n"
                         f"{request}".encode())
    server.wait_for_metrics(*(f'{name}{{model="text"}} 0' for name in ("heed_running", "heed_queue_length")))
    assert server.ask("/v1/completions", {"model": "text", "prompt": "a", "max_tokens": 3})
    assert server.stop() == 0


def test_idle(_folder, models, sentences):
    """After requests all threads sleep, those of the pool too: one that spins is never seen asleep."""
    server = running(models, "--cpu-threads=2", "--workers=1")
    for sentence in sentences[:4]:
        server.ask("/translate", {"q": sentence, "source": "en", "target": "zh", "alternatives": 3})
    for _ in range(1000):
        if set(states(server)) == {"S"}:
            break
        time.sleep(0.01)
    else:
        assert False, f"threads that do not sleep: {states(server)}"
    assert server.stop() == 0


def test_signals(folder, models, sentences):
    """SIGHUP under load reads the models again, SIGTERM finishes what runs; no answer is lost."""
    config = folder / "serve.toml"
    config.write_text(f"models = {json.dumps(models)}\n[limits]\nstop_seconds = 30\n")
    server = Server(HEED, [], "-c", config)
    body = {"source": "en", "target": "zh"}

    def ask(text):
        return server.ask("/translate", {**body, "q": text})["translatedText"]

    before = [ask(text) for text in sentences]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask, text) for text in sentences * 4]
        server.process.send_signal(signal.SIGHUP)
        assert [answer.result() for answer in answers] == before * 4
        server.wait_for_metrics("heed_reloads_total 1")
        config.write_text("models = ['none=/nowhere']")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_metrics("heed_failed_reloads_total 1")
        assert [ask(text) for text in sentences] == before, "what cannot be loaded changes nothing"
        late = [pool.submit(server.call, "POST", "/translate", {**body, "q": text}) for text in sentences]
        late[0].result()
        assert server.stop() == 0
    for answer, text in zip(late, before):
        error = answer.exception()
        if error is not None:
            assert isinstance(error, (ConnectionError, OSError)), error
        elif answer.result()[0] == 200:
            assert json.loads(answer.result()[2])["translatedText"] == text
        else:
            assert answer.result()[0] == 503, answer.result()
    assert server.process.returncode == 0


def test_tls(folder, models, _sentences):
    """https, with a certificate that openssl made."""
    if subprocess.run(["which", "openssl"], capture_output=True, check=False).returncode != 0:
        print("test_tls: skipped, openssl is not installed")
        return
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
    server = running(models, "--tls-certificate", certificate, "--tls-key", key)
    context = ssl.create_default_context(cafile=certificate)
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as tls:
            tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            content = b""
            while b"ready\n" not in content:
                content += tls.recv(4096)
    assert b"ok\n" in content
    server.raw(b"GET / HTTP/1.1\r\n\r\n")  # no handshake
    for _ in range(100):  # an answer may be complete before its client leaves
        leave_encrypted(server.port, context)
        if '"status":499' in server.said():
            break
    assert server.stop() == 0
    assert '"status":499' in server.said(), "work of clients that have left is ended"


def leave_encrypted(port, context):
    """A client that leaves while it waits, with its last message in the way of its end."""
    request = json.dumps({"model": "text", "prompt": ["a"] * 16, "max_tokens": 60, "n": 16})
    data = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(request)}\r\n\r\n{request}".encode()
    with socket.create_connection(("127.0.0.1", port)) as plain:
        tls = context.wrap_socket(plain, server_hostname="localhost")
        tls.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")  # so that nothing is left to be read
        while not tls.recv(4096).endswith(b"ok\n"):
            pass
        tls.sendall(data)
        time.sleep(0.01)  # so that the server has most often read the request before the end comes
        try:
            tls.settimeout(0)
            tls.unwrap()
        except (ssl.SSLError, OSError):
            pass  # the message of the end is sent, the answer is not waited for
        tls.close()


def test_mistakes(folder, models, _sentences):
    """What cannot be served is said before anything listens."""
    (folder / "empty-keys").write_text("# none\n")
    for flags, word in ((["--model", "x=/nowhere"], "/nowhere"), ([], "no models"),
                        (["--model", models[0], "--model", models[0]], "two models"),
                        (["--model", models[0], "--tls-key=k"], "tls_certificate"),
                        (["--model", models[0], "--keys", folder / "empty-keys"], "no keys"),
                        (["--model", models[0], "--host", "nohost"], "nohost")):
        done = subprocess.run([HEED, "serve", "--port=0", *flags], capture_output=True, check=False, timeout=60)
        assert done.returncode == 1 and word in done.stderr.decode(), (flags, done)


if __name__ == "__main__":
    run_tests(dict(globals()), HEED, ROOT)
