"""The driver's side of an engine: a process that keeps its model loaded."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

ENGINES = pathlib.Path(__file__).resolve().parent / "engines"


class EngineError(Exception):
    """An engine that is not installed, cannot load its model, or cannot answer."""


class Engine:
    """`script` is a file of engines/; `label` is what the tables call it."""

    def __init__(self, label: str, script: str, settings: dict):
        self.label, self.peak_kb = label, 0
        self.process = subprocess.Popen(
            [sys.executable, str(ENGINES / f"{script}.py"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("HEED_BENCH_VERBOSE") else subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": str(settings["threads"])},
            encoding="utf-8",
        )
        self.version = self._answer()["version"]

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": f"exit code {self.process.wait()}"}
        if "error" in answer:
            raise EngineError(f"{self.label}: {answer['error']}")
        return answer

    def run(self, request: dict, show: bool = False) -> dict:
        """Seconds `wall` and `cpu`; `result` if it is to be shown."""
        self.process.stdin.write(json.dumps({**request, "show": show}) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.peak_kb = answer["peak_kb"]
        return answer

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        if error:
            self.process.kill()  # it may be computing an answer
        self.close()


@contextlib.contextmanager
def started(report, specs: list[tuple[str, str, dict]]):
    """Engines from labels, scripts and settings, heed first. A peer that cannot start is skipped with one line."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(Engine(*specs[0]))]
        for spec in specs[1:]:
            try:
                found.append(stack.enter_context(Engine(*spec)))
            except EngineError as why:
                report.note(f"skipped: {why}")
        if len(found) == 1:
            raise EngineError(f"{specs[0][1]}: no peer to compare with")
        for engine in found:
            report.version(engine.version)
        yield found
