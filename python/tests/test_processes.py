"""Threads, forks, signals, exits, and memory over many calls."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import adumbra

NOISE = adumbra.compile(
    "shader s(float gain = 1.0, out float o) {"
    " float2 u = global_value<uv>; for (int i = 0; i < 20; i++) { o += gain * sin(i * u.x) * cos(u.y); } }"
)
UV = np.random.default_rng(0).random((20_000, 2)).astype(np.float32)
LOOP = "import adumbra, sys; p = adumbra.compile('shader s(out float o) { while (true) { o += 1; } }'); "


def evaluated(gain: float) -> bytes:
    return NOISE(uv=UV, gain=gain)["o"].tobytes()


def test_threads_share_a_program() -> None:
    expected = [evaluated(gain) for gain in range(4)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        found = list(threads.map(evaluated, [gain % 4 for gain in range(64)]))
    assert found == [expected[gain % 4] for gain in range(64)]


def test_lock_is_released() -> None:
    counted = 0
    is_done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_done.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    NOISE(uv=np.broadcast_to(UV[0], (1 << 21, 2)))
    during = counted - before
    is_done.set()
    thread.join()
    assert during > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forks_while_threads_evaluate() -> None:
    expected = [evaluated(gain) for gain in range(4)]
    is_done = threading.Event()

    def work() -> None:
        while not is_done.is_set():
            evaluated(1)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    try:
        context = multiprocessing.get_context("fork")
        with context.Pool(4) as pool:
            assert pool.map_async(evaluated, range(4)).get(timeout=60) == expected
    finally:
        is_done.set()
        for thread in threads:
            thread.join()


def test_other_processes_get_programs_by_pickle() -> None:
    code = (
        "import pickle, sys; program, uv = pickle.load(sys.stdin.buffer);"
        " sys.stdout.buffer.write(program(uv=uv, gain=2)['o'].tobytes())"
    )
    given = pickle.dumps((NOISE, UV))
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    assert done.stdout == evaluated(2)


@pytest.mark.parametrize("threads", [1, 3])
def test_interrupt_ends_an_evaluation(threads: int) -> None:
    code = LOOP + f"print('begun', flush=True); p.evaluate({{'uv': __import__('numpy').zeros((10**6, 2), 'f4')}}, steps=10**15, threads={threads})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) != 0
        assert b"KeyboardInterrupt" in process.stderr.read()


def test_exit_while_a_thread_evaluates_is_clean() -> None:
    code = LOOP + (
        "import threading, time; threading.Thread(target=lambda: p.evaluate(steps=10**15), daemon=True).start();"
        " time.sleep(0.2); print('ends')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout == b"ends\n" and done.stderr == b""


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is not known here")
def test_memory_stays_over_many_compilations() -> None:
    x = np.linspace(0, 1, 100, dtype=np.float32)

    def once(number: int) -> None:
        source = f"shader s(float k = {number}.0, out float o) {{ o = k * sin(global_value<x>); }}"
        program = adumbra.compile(source, globals={"x": "float"})
        program(x=x)
        program.grad({"x": x}, wrt="k")

    for number in range(1000):
        once(number)
    before = resident()
    for number in range(1000, 10_000):
        once(number)
    assert resident() < 1.05 * before


def test_results_outlive_programs() -> None:
    def made() -> np.ndarray:
        program = adumbra.compile("shader s(out float o) { o = global_value<uv>.x; }")
        return program(uv=UV)["o"]

    assert np.array_equal(made(), UV[:, 0])
