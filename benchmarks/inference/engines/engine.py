"""What the engines have in common: a process that keeps one model loaded and answers requests.

    python heed_translate.py '{"model": "…", "threads": 1, "form": "int8"}'
        {"version": "heed 0.1.0"}
    {"texts": ["A dog runs."], "beam": 1, "show": true}
        {"wall": 0.021, "cpu": 0.020, "peak_kb": 301244, "result": ["Un chien court."]}

Requests and answers are lines of JSON; a request that fails is answered with {"error": "…"}. Import this module
before anything that may print.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable

# Answers go to the real stdout; whatever libraries print there goes to stderr.
answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
os.dup2(2, 1)

Load = Callable[[dict], tuple[str, Callable[[dict], object]]]


def peak_resident_kb() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def timed(run: Callable[[dict], object], request: dict) -> dict:
    """Seconds of one request: elapsed, and of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run(request)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    answer = {"wall": wall, "cpu": cpu, "peak_kb": peak_resident_kb()}
    if request.get("show"):
        answer["result"] = result.tolist() if hasattr(result, "tolist") else result
    return answer


def say(answer: dict) -> None:
    print(json.dumps(answer, ensure_ascii=False), file=answers, flush=True)


def failure(error: Exception) -> dict:
    traceback.print_exc()
    return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:500]}


def serve(load: Load) -> None:
    """Loads what the settings of the command line name, then answers until the end of input. `load` returns the
    version of the engine and the function that computes a result."""
    try:
        version, run = load(json.loads(sys.argv[1]))
        say({"version": version})
    except Exception as error:
        return say(failure(error))
    for line in sys.stdin:
        try:
            say(timed(run, json.loads(line)))
        except Exception as error:
            say(failure(error))
