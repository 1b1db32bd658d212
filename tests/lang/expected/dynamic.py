"""Dynamic programming, mostly against trying everything."""

import functools
import itertools
import math

from support import i32, within


def knapsack():
    weight, value = (12, 7, 11, 8, 9, 6), (24, 13, 23, 15, 16, 11)

    def total(of, chosen):
        return sum(of[i] for i in range(6) if chosen >> i & 1)

    chosen = max((s for s in range(64) if total(weight, s) <= 26), key=lambda s: total(value, s))
    return {"best": total(value, chosen), "taken": chosen, "weight_taken": total(weight, chosen)}


def coins():
    @functools.cache
    def ways(amount, kinds):
        if amount == 0:
            return 1
        if amount < 0 or not kinds:
            return 0
        return ways(amount - kinds[-1], kinds) + ways(amount, kinds[:-1])

    def fewest(n):
        return next(
            k
            for k in range(n + 1)
            if any(sum(c) == n for c in itertools.combinations_with_replacement((1, 7, 10, 22), k))
        )

    def greedy(n):
        used = 0
        for c in (22, 10, 7, 1):
            used, n = used + n // c, n % c
        return used

    return {
        "ways": ways(100, (1, 5, 10, 25, 50, 100)),
        "fewest": fewest(29),
        "greedy": greedy(29),
        "fails": sum(greedy(n) > fewest(n) for n in range(1, 51)),
    }


def common_subsequence():
    a, b = (3, 1, 4, 1, 5, 9, 2, 6, 5), (1, 4, 1, 4, 2, 1, 3, 5)

    def subsequences(w):
        return {c for n in range(len(w) + 1) for c in itertools.combinations(w, n)}

    common = subsequences(a) & subsequences(b)
    length = max(map(len, common))
    longest = {c for c in common if len(c) == length}
    # Walking back from the end, up before left, finds this one; it is among the longest.
    one = (1, 4, 1, 2, 5)
    assert one in longest
    return {"length": length, "one": int("".join(map(str, one))), "is_common": True}


def edit_distance():
    # Known: kitten-sitting 3; a swap is one edit with Damerau and two without; to nothing, all go.
    return {"kitten": 3, "swapped": 1, "unswapped": 2, "empty": 7}


def increasing_subsequence():
    a = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)

    @functools.cache
    def best(i):
        after = [best(j) for j in range(i + 1, 16) if a[j] > a[i]]
        longest = max((n for n, _ in after), default=0)
        return longest + 1, sum(w for n, w in after if n == longest) or 1

    longest = max(best(i)[0] for i in range(16))
    count = sum(w for n, w in map(best, range(16)) if n == longest)
    return {"quadratic": longest, "by_tails": longest, "count": count}


def matrix_chain():
    # Cormen et al., Introduction to Algorithms, fig. 15.5: ((A1 (A2 A3)) ((A4 A5) A6)).
    return {"cost": 15125, "splits": 315}


def rod_cutting():
    price = (0, 1, 5, 8, 9, 10, 17, 17, 20, 24, 30)

    @functools.cache
    def best(n):
        return max((price[k] + best(n - k) for k in range(1, n + 1)), default=0)

    return {"four": best(4), "seven": best(7), "ten": best(10)}


def greatest_sum():
    a = (8, -3, -6, 4, -1, 5, -9, 2, 6, -4, 1, 5)
    spans = [(i, j) for i in range(12) for j in range(i, 12)]
    most = max(sum(a[i : j + 1]) for i, j in spans)
    i, j = next(s for s in spans if sum(a[s[0] : s[1] + 1]) == most)
    rings = [sum((a + a)[k : k + n]) for k in range(12) for n in range(1, 13)]
    return {
        "most": most,
        "ends": i * 100 + j,
        "circular": max(rings),
        "product": max(math.prod(a[i : j + 1]) for i, j in spans),
    }


def egg_drop():
    @functools.cache
    def reach(drops, eggs):
        return sum(math.comb(drops, k) for k in range(1, eggs + 1))

    def fewest(eggs, floors):
        return next(t for t in range(floors + 1) if reach(t, eggs) >= floors)

    return {"two": fewest(2, 100), "three": fewest(3, 1000), "one": 30, "ten": fewest(10, 1000)}


def subset_sums():
    a = (3, 34, 4, 12, 5, 2, 7, 1)
    sums = [sum(c) for n in range(9) for c in itertools.combinations(a, n)]
    return {
        "reachable": len({s for s in sums if s < 64}),
        "halves": sum(a) // 2 in sums,
        "forty": 40 in sums,
        "ways": sums.count(19),
    }


@within(1e-6)
def search_tree():
    # Cormen et al., fig. 15.10: the root is the second key.
    return {"cost": 2.75, "root": 2}


def palindromes():
    a = (1, 2, 3, 2, 4, 3, 4, 2, 3, 2, 1, 1, 5, 1)
    is_one = lambda w: w == w[::-1]
    spans = [(i, j) for i in range(14) for j in range(i + 1, 15) if is_one(a[i:j])]
    longest = max(j - i for i, j in spans)
    subsequence = max(
        n for n in range(15) if any(is_one(c) for c in itertools.combinations(a, n))
    )

    @functools.cache
    def parts(j):
        return min((parts(i) + 1 for i, end in spans if end == j), default=0)

    return {
        "inside": longest,
        "start": next(i for i, j in spans if j - i == longest),
        "subsequence": subsequence,
        "cuts": parts(14) - 1,
    }


def grid_paths(x, y):
    walls = {(2, 2), (4, 1), (1, 4)}
    free, blocked, cheapest = 0, 0, math.inf
    for downs in itertools.combinations(range(10), 5):
        r = c = 0
        cost, hit = 1.0, False
        for step in range(10):
            r, c = (r + 1, c) if step in downs else (r, c + 1)
            cost += 1 + math.sin(x * r + y * c) * math.sin(x * c - y * r)
            hit = hit or (r, c) in walls
        free, blocked, cheapest = free + 1, blocked + (not hit), min(cheapest, cost)
    return {"free": free, "blocked": blocked, "cheapest": cheapest}


def travelling():
    towns = list(zip((0, 6, 12, 10, 3, 1, 7), (0, 1, 3, 9, 10, 5, 5)))

    def distance(a, b):
        return abs(towns[a][0] - towns[b][0]) + abs(towns[a][1] - towns[b][1])

    def trip(order):
        return sum(distance(a, b) for a, b in zip(order, order[1:] + order[:1]))

    way = [0]
    while len(way) < 7:
        way.append(min(set(range(7)) - set(way), key=lambda k: (distance(way[-1], k), k)))
    shortest = min(trip((0,) + p) for p in itertools.permutations(range(1, 7)))
    return {"shortest": shortest, "greedy": trip(tuple(way))}


@within(1e-6)
def viterbi():
    start, emit = (0.6, 0.4), ((0.5, 0.4, 0.1), (0.1, 0.3, 0.6))
    change = ((0.7, 0.3), (0.4, 0.6))

    def likely(path):
        p = start[path[0]] * emit[path[0]][0]
        for t in (1, 2):
            p *= change[path[t - 1]][path[t]] * emit[path[t]][t]
        return p

    best = max(itertools.product((0, 1), repeat=3), key=likely)
    return {"path": int("".join(map(str, best))), "probability": likely(best)}


def robbers():
    a, price = (6, 7, 1, 30, 8, 2, 4, 11, 12), (5, 11, 3, 50, 60, 90, 4, 3, 20)

    def best(n, ring):
        def apart(s):
            return not s & s << 1 and not (ring and s & 1 and s >> n - 1)

        return max(sum(a[i] for i in range(n) if s >> i & 1) for s in range(2**n) if apart(s))

    @functools.cache
    def trade(day, holds, resting):
        if day == 9:
            return 0
        options = [trade(day + 1, holds, False)]
        if holds:
            options.append(price[day] + trade(day + 1, False, True))
        elif not resting:
            options.append(trade(day + 1, True, False) - price[day])
        return max(options)

    stock = sum(max(0, q - p) for p, q in zip(price, price[1:]))
    return {"in_row": best(9, False), "in_ring": best(9, True), "stock": stock, "with_rest": trade(0, False, False)}
