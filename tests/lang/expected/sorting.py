"""Sorting and searching."""

import heapq
import math
import statistics

from support import i32, u32


def _fold(values, base, start=0):
    for v in values:
        start = i32(start * base + v)
    return start


def bubble():
    w = [7, 3, 9, 1, 8, 2, 5, 0, 6, 4]
    inversions = sum(a > b for i, a in enumerate(w) for b in w[i + 1 :])
    # A value moves left by one a pass; one pass more sees that nothing changes.
    left = max(sum(a > x for a in w[:i]) for i, x in enumerate(w))
    return {"packed": 123456789, "swaps": inversions, "inversions": inversions, "passes": left + 1}


def insertion():
    a = [5, -3, 12, 0, 7, 7, -8, 100, 41, 2, 1, -3]
    return {
        "sorted": _fold(sorted(a), 31),
        "kept": _fold(a, 31),
        "partly": _fold(sorted(a[:5]) + a[5:], 31),
    }


def selection_of_floats(x):
    w = sorted([x * x, math.sin(3 * x), 1 - x, math.exp(x), -x])
    return {"least": w[0], "middle": w[2], "most": w[4]}


def quick():
    a, s = [], 12345
    for _ in range(24):
        s = u32(s * 1103515245 + 12345)
        a.append((s >> 16 & 0x7FFF) % 1000)
    a.sort()
    return {"hash": _fold(a, 33), "ordered": True, "median": int(2 * statistics.median(a))}


def merge():
    a = [30, 10, 21, 11, 40, 22, 31, 12, 13, 41, 23, 32, 0, 42, 14, 1]
    a.sort(key=lambda x: x // 10)
    return {"first_half": _fold(a[:8], 50), "second_half": _fold(a[8:], 50), "moves": 16 * 4}


def heap():
    a = [14, 3, 27, 8, 1, 99, 5, 62, 33, 2, 18, 41, 7, 20, 11]
    return {"top": 99, "is_heap": True, "hash": _fold(sorted(a), 37)}


def priority_queue():
    queue, popped = [3, 5, 7], []
    for _ in range(20):
        last = heapq.heappop(queue)
        popped.append(last)
        step = next((d for d in (3, 5, 7) if last % d == 0), None)
        if step:
            heapq.heappush(queue, last + step)
        if not queue:
            queue.append(last + 1)
    return {"hash": _fold(popped, 13), "last": popped[-1], "left": len(queue)}


def counting():
    letters = sorted(ord(c) - 96 for c in "triangle")
    return {
        "anagram": sorted("triangle") == sorted("integral"),
        "first": letters[0],
        "last": letters[-1],
        "hash": _fold(letters, 27),
    }


def radix():
    a, x = [], 1
    for _ in range(20):
        a.append(x)
        x = u32(x * 69069 + 1)
    a.sort()
    return {"least": a[0], "median": a[10], "greatest": a[19], "hash": u32(_fold(a, 31))}


def shell():
    a = sorted((i * i * 7 % 31 + i % 3 for i in range(30)), reverse=True)
    return {"hash": _fold(a, 41), "gaps": 130401, "second": a[1]}


def sorting_network():
    return {"sorted": 123456, "right": 64}


def network_of_floats(u, v):
    w = sorted([u * v, u + v, math.cos(4 * u), v * v, math.sqrt(u)])
    return {"m": w[2], "lowest": w[0], "highest": w[4]}


def binary_search():
    a = [1, 3, 3, 3, 8, 9, 14, 14, 20, 21, 22, 22, 22, 22, 40, 77]
    return {
        "found": a.index(20),
        "absent": sum(x < 10 for x in a),
        "equal": a.count(22),
        "before": 0,
        "after": 16,
    }


def quickselect():
    a = [31, 4, 15, 92, 65, 35, 89, 79, 32, 38, 46]
    return {"median": statistics.median(a), "all": _fold(sorted(a), 97), "untouched": 31}


def two_pointers():
    a = [1, 4, 5, 7, 10, 12, 15, 20]
    b = [2, 4, 7, 9, 12, 13, 20, 30]
    pairs = [(x, y) for x in a for y in a if x < y and x + y == 22]
    merged = sorted(a + b)
    return {
        "pairs": _fold([x * 20 + y for x, y in pairs], 1000),
        "common": _fold([x for x in a if x in b], 32),
        "median2": int(2 * statistics.median(merged)),
    }


def ranking():
    w = [50, 20, 50, 10, 70, 20, 90, 10, 20]
    order = sorted(range(9), key=lambda i: w[i])
    ranks = [sum(x < y for x in w) for y in w]
    cycles = {frozenset(_orbit(order, i)) for i in range(9)}
    return {
        "order_hash": _fold(order, 10),
        "rank_hash": _fold(ranks, 10),
        "inverse": True,
        "cycles": len(cycles),
    }


def _orbit(permutation, start):
    orbit, at = [start], permutation[start]
    while at != start:
        orbit.append(at)
        at = permutation[at]
    return orbit
