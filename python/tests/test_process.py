"""heed in a process: memory, threads, the interpreter's lock, forks, lifetimes."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, Callable

import numpy as np
import pytest
import twin

import heed

SHAPE = (2, 4, 33, 16)


def _resident() -> int:
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- memory --------------------------------------------------------------------------------------


def _everything(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    half = q.astype(np.float16)
    heed.attention(half, half, half)
    heed.attention(q[..., ::-1], k, v, modifiers=[heed.dense_bias(np.zeros((33, 33))), heed.alibi(4)])
    heed.attention(
        q,
        k,
        v,
        past_key=k,
        past_value=v,
        mask=heed.causal() & heed.boolean_mask(np.ones((33, 66), bool)),
        return_weights=True,
        return_lse=True,
        return_scores="raw",
        return_present=True,
    )
    heed.attention(q, k, v, out=np.empty_like(q), dropout=0.1)
    heed.backward(q, q, k, v, mask=np.zeros((33, 33)))
    cache = heed.KVCache(batch=2, heads=4, features=16)
    cache.append(k, v)
    cache.clone().attend(q)
    for wrong in ({"mask": "x"}, {"out": q}, {"score": "x"}, {"mask": np.ones((3, 3), bool)}):
        with pytest.raises((heed.Error, TypeError)):
            heed.attention(q, k, v, **wrong)


@pytest.mark.parametrize(
    "call, times",
    [(lambda q, k, v: heed.attention(q, k, v), 10_000), (_everything, 1000)],
    ids=["plain", "everything"],
)
def test_nothing_leaks(call: Callable[..., Any], times: int) -> None:
    given = twin.arrays(1, SHAPE, SHAPE, SHAPE, dtype=np.float32)
    for _ in range(times // 10):
        call(*given)
    gc.collect()
    counts, before = [sys.getrefcount(x) for x in given], _resident()
    for _ in range(times):
        call(*given)
    gc.collect()
    assert [sys.getrefcount(x) for x in given] == counts
    assert _resident() - before < 4 << 20  # one array lost a call would be 160 MB, or 16


def test_results_outlive_what_made_them() -> None:
    given = twin.arrays(2, SHAPE, SHAPE, SHAPE)
    right = twin.attention(*given)
    output, weights = heed.attention(*given, return_weights=True)
    row = output[0, 1, 2]
    del given
    gc.collect()
    rubbish = [np.full(SHAPE, np.nan) for _ in range(50)]
    np.testing.assert_allclose(weights, right.weights, atol=1e-12)
    del output, weights, rubbish
    np.testing.assert_allclose(row, right.output[0, 1, 2], atol=1e-12)


def test_results_are_the_callers_own() -> None:
    given = twin.arrays(3, SHAPE, SHAPE, SHAPE)
    first = heed.attention(*given)
    kept = first.copy()
    assert first.flags.writeable and not any(np.shares_memory(first, x) for x in given)
    second = heed.attention(*given)
    second[...] = 0
    np.testing.assert_array_equal(first, kept)


def test_arguments_are_let_go() -> None:
    class Mine(np.ndarray):
        """An array that can be watched."""

    given = [x.view(Mine) for x in twin.arrays(4, SHAPE, SHAPE, SHAPE)]
    watched = [weakref.ref(x) for x in given]
    output = heed.attention(*given, return_present=False)
    heed.backward(np.ones(SHAPE), *given)
    del given
    gc.collect()
    assert all(w() is None for w in watched) and output.shape == SHAPE


def test_stages_and_masks_keep_their_arrays() -> None:
    q, k, v, b = twin.arrays(5, SHAPE, SHAPE, SHAPE, (33, 33))
    right = twin.attention(q, k, v, modifiers=(twin.dense_bias(b),), seen=b > 0).output
    stage, mask = heed.dense_bias(b.copy()), heed.boolean_mask(b > 0)
    gc.collect()
    rubbish = [np.ones((33, 33)) for _ in range(50)]
    output = heed.attention(q, k, v, modifiers=stage, mask=mask)
    np.testing.assert_allclose(output, right, atol=1e-12)
    assert rubbish


# ---- threads -------------------------------------------------------------------------------------


def _in_threads(n: int, work: Callable[[int], None]) -> None:
    """Runs work in so many threads and raises what any of them raised."""
    failures: list[BaseException] = []

    def run(i: int) -> None:
        try:
            work(i)
        except BaseException as failure:  # noqa: BLE001, raised again below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_threads_give_the_same_bits() -> None:
    q, k, v, dy = twin.arrays(6, *4 * [(2, 4, 65, 32)], dtype=np.float32)
    call = {"mask": heed.causal(), "modifiers": heed.alibi(4), "dropout": 0.1, "seed": 1}
    alone = heed.attention(q, k, v, **call), heed.backward(dy, q, k, v, **call)

    def work(i: int) -> None:
        for _ in range(20):
            np.testing.assert_array_equal(heed.attention(q, k, v, **call), alone[0])
            gradients = heed.backward(dy, q, k, v, **call)
            for ours, theirs in zip(gradients[:3], alone[1][:3]):
                np.testing.assert_array_equal(ours, theirs)

    _in_threads(8, work)


def test_a_cache_that_threads_share() -> None:
    """Readers see all of a change or nothing of it."""
    cache = heed.KVCache(batch=1, heads=2, features=8)
    q = np.ones((1, 2, 1, 8), np.float32)
    one = np.ones((1, 2, 1, 8), np.float32)
    cache.append(one, one)
    done = threading.Event()

    def work(i: int) -> None:
        if i > 0:
            while not done.is_set():
                np.testing.assert_allclose(cache.attend(q), one, rtol=1e-6)
            return
        try:
            for n in range(300):
                cache.append(one.repeat(1 + n % 7, 2), one.repeat(1 + n % 7, 2))
                if n % 10 == 9:
                    cache.rewind(cache.length - 1)
                if n % 50 == 49:
                    cache.reorder([0])
        finally:
            done.set()

    _in_threads(4, work)


@pytest.mark.parametrize("attempt", range(3))
def test_threads_that_make_the_first_results_together(attempt: int) -> None:
    """Each result needs NumPy, which the first one imports: a new interpreter for each attempt."""
    program = """
import sys, threading, heed
assert "numpy" not in sys.modules
n = 16
together = threading.Barrier(n)
results = []
def work():
    together.wait()
    results.append(heed.alibi_slopes(8).tolist())
threads = [threading.Thread(target=work) for _ in range(n)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(results) == n and all(r == results[0] for r in results)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr == "", (ran.returncode, ran.stderr)


def test_a_cache_changes_while_the_function_of_a_mask_runs() -> None:
    """The function needs the interpreter, and so does the thread that waits to change the cache."""
    cache = heed.KVCache(heads=1, features=4)
    one = np.ones((1, 1, 1, 4), np.float32)
    cache.append(one, one)
    inside, about = threading.Event(), threading.Event()

    def seen(b: Any, h: Any, i: Any, j: Any) -> Any:
        inside.set()
        about.wait()
        time.sleep(0.05)  # lets the other thread come to wait
        return np.ones((1, 1, 1, j.size), bool)

    def work(i: int) -> None:
        if i == 0:
            np.testing.assert_allclose(cache.attend(one, mask=heed.mask_fn(seen)), one, rtol=1e-6)
            return
        inside.wait()
        about.set()
        cache.append(one, one)

    _in_threads(3, work)
    assert len(cache) == 3


@pytest.mark.parametrize("call", ["attention", "backward", "scores", "attend"])
def test_other_threads_run_meanwhile(call: str) -> None:
    """With the interpreter's lock held, the counter would not tick in the middle of a call."""
    x = np.ones((1, 8, 2048, 64), np.float32)
    cache = heed.KVCache(heads=8, features=64)
    cache.append(x, x)
    work = {
        "attention": lambda: heed.attention(x, x, x),
        "backward": lambda: heed.backward(x, x, x, x),
        "scores": lambda: heed.attention(
            x, x, x, mask=heed.causal(), return_scores="raw", normaliser=heed.top_k_weights(3)
        ),
        "attend": lambda: cache.attend(x),
    }[call]
    ticks: list[float] = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    calls = [time.perf_counter()]
    try:
        while calls[-1] - calls[0] < 0.3 or len(calls) < 3:
            work()
            calls.append(time.perf_counter())
    finally:
        done.set()
        counter.join()
    middles = [(0.8 * a + 0.2 * b, 0.2 * a + 0.8 * b) for a, b in zip(calls, calls[1:])]
    assert sum(a < t < b for t in ticks for a, b in middles) >= 3


# ---- forks and the end ---------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_computes() -> None:
    q, k, v = twin.arrays(7, *3 * [(4, 8, 129, 64)], dtype=np.float32)
    right = heed.attention(q, k, v)  # the threads are there before the fork
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # it ends, whatever becomes of it
        same = all(np.array_equal(heed.attention(q, k, v), right) for _ in range(3))
        same &= bool(np.isfinite(heed.backward(right, q, k, v).q).all())
        os._exit(0 if same else 1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, status
    np.testing.assert_array_equal(heed.attention(q, k, v), right)


def test_the_interpreter_ends_quietly_while_arrays_live() -> None:
    program = """
import threading, numpy as np, heed
x = np.ones((2, 4, 64, 16), np.float32)
kept = [heed.attention(x, x, x), heed.dense_bias(x[0]), heed.boolean_mask(np.ones((64, 64), bool))]
kept.append(heed.KVCache(batch=2, heads=4, features=16))
kept[-1].append(x, x)
heed.kept = kept
def forever():
    while True:
        heed.attention(x, x, x)
threading.Thread(target=forever, daemon=True).start()
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0 and ran.stderr == "", (ran.returncode, ran.stderr)
