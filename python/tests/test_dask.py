"""Images and sweeps by Dask: the bits of one process, also if a worker is lost."""

import os
import signal
import time

import numpy as np
import pytest

import adumbra

pytest.importorskip("dask.array")

import adumbra.dask  # noqa: E402

RINGS = adumbra.compile(
    "shader rings(float count = 8.0, out color c) {"
    " float2 p = global_value<uv> - 0.5; c = color(sin(count * length(p)), p); }"
)


def test_blocks_are_parts_of_the_image() -> None:
    whole = adumbra.image(RINGS, (150, 100), {"count": 20})
    for chunks in (33, 64, 1000, None):
        array = adumbra.dask.image(RINGS, (150, 100), {"count": 20}, chunks=chunks)
        assert array.shape == (100, 150, 3) and array.dtype == np.float32
        assert np.array_equal(array.compute(scheduler="threads"), whole)


def test_sweeps_have_a_side_for_each_input() -> None:
    array = adumbra.dask.sweep(RINGS, (20, 10), {"count": [1, 2, 3]})
    assert array.shape == (3, 10, 20, 3)
    found = array.compute(scheduler="synchronous")
    assert np.array_equal(found[1], adumbra.image(RINGS, (20, 10), {"count": 2}))
    with pytest.raises(KeyError):
        adumbra.dask.sweep(RINGS, 8, {"cuont": [1]})
    with pytest.raises(ValueError):
        adumbra.dask.sweep(RINGS, 8, {"count": []})


def test_a_worker_that_is_lost_changes_nothing() -> None:
    distributed = pytest.importorskip("distributed")
    whole = adumbra.image(RINGS, (1024, 1024))
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        slow = adumbra.compile(RINGS.source.replace("float2 p", "for (int i = 0; i < 20000; i++) { c.x += 1; } float2 p"))
        future = client.compute(adumbra.dask.image(slow, (1024, 1024), chunks=128))
        time.sleep(1.0)
        workers = client.run(os.getpid)
        os.kill(next(iter(workers.values())), signal.SIGKILL)
        assert np.array_equal(future.result(timeout=300), whole)


def test_a_huge_image_is_drawn_in_little_memory() -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GB"
    )
    with cluster, distributed.Client(cluster):
        side = 16_384
        program = adumbra.compile("shader s(out float o) { o = global_value<uv>.x; }")
        means = adumbra.dask.image(program, side, chunks=2048).mean().compute()
        assert abs(float(means) - 0.5) < 1e-3
