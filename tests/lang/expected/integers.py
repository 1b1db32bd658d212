"""Number theory and machine integers."""

import datetime
import math

from support import i32, quotient, remainder, u32


def _is_prime(n):
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


def _proper_divisors(n):
    return sum(d for d in range(1, n) if n % d == 0)


def _factors(n):
    factors, p = [], 2
    while n > 1:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1
    return factors


def _fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def euclid():
    return {
        "loop": math.gcd(1071, 462),
        "deep": math.gcd(832040, 514229 * 4),
        "coprime": math.gcd(17, 3120),
        "least": math.lcm(*range(1, 21)),
    }


def bezout():
    # Among the solutions, the algorithm finds the one of least magnitude.
    x = min((x for x in range(-46, 46) if (2 - 240 * x) % 46 == 0), key=abs)
    return {"g": 2, "x": x, "y": (2 - 240 * x) // 46, "holds": 2, "modular_inverse": pow(17, -1, 3120)}


def modular_power():
    return {
        "big": pow(7, 1000003, 10007),
        "walk": int("".join(str(3**k % 7) for k in range(6))),
        "fermat": 30,
    }


def sieve():
    primes = [n for n in range(200) if _is_prime(n)]
    gap = max(b - a for a, b in zip(primes, primes[1:]))
    return {"count": len(primes), "sum": sum(primes), "last": primes[-1], "gap": gap}


def collatz():
    def way(n):
        way = [n]
        while way[-1] != 1:
            way.append(way[-1] // 2 if way[-1] % 2 == 0 else 3 * way[-1] + 1)
        return way

    start = max(range(1, 100), key=lambda n: len(way(n)))
    return {"start": start, "steps": len(way(start)) - 1, "peak": max(way(start))}


def ackermann():
    return {"a23": 2 * 3 + 3, "a31": 2**4 - 3, "a33": 2**6 - 3}


def fibonacci():
    return {
        "loop": _fibonacci(40),
        "calls": _fibonacci(15),
        "doubled": _fibonacci(46),
        "wrapped": i32(_fibonacci(60)),
    }


def perfect_numbers():
    sums = {n: _proper_divisors(n) for n in range(1, 501)}
    return {
        "perfect_sum": sum(n for n, s in sums.items() if s == n),
        "abundant": sum(s > n for n, s in sums.items()),
        "deficient": sum(s < n for n, s in sums.items()),
    }


def digits():
    palindromes = [n for n in range(1, 1000) if str(n) == str(n)[::-1]]
    return {
        "back": int("1230457"[::-1]),
        "back2": int(f"{0x1a3:b}"[::-1], 2),
        "sum": sum(map(int, "2147483647")),
        "palindromes": len(palindromes),
        "both": sum(n for n in palindromes if f"{n:b}" == f"{n:b}"[::-1]),
        "root": 9,
    }


def integer_roots():
    def root3(n):
        return max(x for x in range(1001) if x**3 <= n)

    return {
        "a": math.isqrt(2000000000),
        "b": math.isqrt(99980001),
        "c": 1000,
        "d": 999,
        "sum": sum(math.isqrt(i) * root3(i) for i in range(50)),
    }


def totients():
    def totient(n):
        return sum(math.gcd(n, k) == 1 for k in range(1, n + 1))

    return {
        "one": totient(1),
        "prime": totient(97),
        "round_number": totient(720720),
        "sum": sum(map(totient, range(1, 61))),
    }


def catalan():
    numbers = [math.comb(2 * n, n) // (n + 1) for n in range(16)]
    return {"convolved": numbers[15], "by_ratio": numbers[15], "total": sum(numbers)}


def pascal():
    row = [math.comb(20, k) for k in range(21)]
    return {
        "middle": row[10],
        "sum": 2**20,
        "alternating": sum((-1) ** k * c for k, c in enumerate(row)),
        "odd": sum(c % 2 for c in row),
    }


def partitions():
    def count(n, largest, distinct):
        if n == 0:
            return 1
        return sum(count(n - k, k - distinct, distinct) for k in range(min(n, largest), 0, -1))

    # p(60) is too many to list; it is the known value of A000041.
    return {"p30": count(30, 30, 0), "p60": 966467, "distinct30": count(30, 30, 1)}


def bell_triangle():
    bell = [1]
    for n in range(12):
        bell.append(sum(math.comb(n, k) * bell[k] for k in range(n + 1)))
    return {"b5": bell[5], "b10": bell[10], "b12": bell[12]}


def josephus():
    def last(people, step):
        ring = list(range(people))
        at = 0
        while len(ring) > 1:
            at = (at + step - 1) % len(ring)
            del ring[at]
        return ring[0]

    return {"third": last(41, 3), "second": last(100, 2), "shortcut": last(100, 2), "simulated": last(41, 3)}


def happy_numbers():
    def happy(n):
        seen = set()
        while n not in seen:
            seen.add(n)
            n = sum(int(d) ** 2 for d in str(n))
        return n == 1

    return {
        "below100": sum(happy(n) for n in range(1, 100)),
        "first_pair": next(n for n in range(1, 1000) if happy(n) and happy(n + 1)),
        "seven": happy(7),
        "four": happy(4),
    }


def narcissistic():
    def found(digits):
        of = range(10 ** (digits - 1), 10**digits)
        return [n for n in of if sum(int(d) ** digits for d in str(n)) == n]

    packed = 0
    for n in found(4):
        packed = i32(packed * 31 + n)
    return {"count": len(found(3)), "sum": sum(found(3)), "four_digits": packed}


def pythagoras():
    triples = [
        (a, b, c)
        for c in range(1, 61)
        for b in range(1, c)
        for a in range(1, b)
        if a * a + b * b == c * c
    ]
    perimeters = [sum(t) for t in triples]
    return {
        "count": len(triples),
        "primitive": sum(math.gcd(a, b) == 1 for a, b, _ in triples),
        "best": max(sorted(set(perimeters)), key=perimeters.count),
    }


def calendar():
    def weekday(y, m, d):
        # Zeller counts from Saturday, Python from Monday.
        return (datetime.date(y, m, d).weekday() + 2) % 7

    def of_year(y, m, d):
        return datetime.date(y, m, d).timetuple().tm_yday

    return {
        "moon_landing": weekday(1969, 7, 20),
        "leaps": sum(of_year(y, 12, 31) == 366 for y in range(1900, 2101)),
        "number": of_year(2024, 12, 31) * 1000 + of_year(2023, 3, 1),
        "fridays": sum(weekday(y, m, 13) == 6 for y in range(2000, 2400) for m in range(1, 13)),
    }


def russian_peasants():
    return {"p": 18 * 23, "q": -1234 * 4321, "agrees": True}


def factors():
    found = _factors(1801800)
    return {
        "count": len(found),
        "largest": max(found),
        "distinct": len(set(found)),
        "divisor_count": sum(1801800 % d == 0 for d in range(1, 1801801)),
    }


def mertens():
    def moebius(n):
        found = _factors(n)
        return 0 if len(set(found)) < len(found) else (-1) ** len(found)

    return {
        "m31": sum(map(moebius, range(1, 32))),
        "m100": sum(map(moebius, range(1, 101))),
        "squarefree": sum(moebius(n) ** 2 for n in range(1, 101)),
    }


def wrap_around():
    top, bottom = 2**31 - 1, -(2**31)
    return {
        "over": i32(top + 1),
        "under": i32(bottom - 1),
        "product": i32(65536 * 65536 + 123456789 * 10),
        "negated": i32(-bottom),
        "divided": i32(-bottom),
        "left": i32(top << 1),
        "magnitude": i32(-bottom),
    }


def truncation():
    quotients = remainders = floored = 0
    for a in (-7, 7):
        for b in (-3, 3):
            quotients = quotients * 10 + quotient(a, b)
            remainders = remainders * 10 + remainder(a, b)
            floored = floored * 10 + a // b
    return {"quotients": quotients, "remainders": remainders, "floored": floored, "law": True}


def unsigned():
    top = 2**32 - 1
    return {
        "below_zero": top,
        "third": top // 3,
        "rest": top % 1000,
        "bigger": True,
        "signed_bigger": False,
        "shifted": top >> 28,
        "arithmetic": -1,
        "back": i32(0x80000005),
    }


def amicable():
    pairs = [
        (a, b)
        for a in range(2, 1300)
        for b in [_proper_divisors(a)]
        if b > a and _proper_divisors(b) == a
    ]
    smaller = larger = 0
    for a, b in pairs:
        smaller, larger = smaller * 10000 + a, larger * 10000 + b
    chain, n = 0, 138
    while n != 1 and chain < 40:
        n, chain = _aliquot(n), chain + 1
    return {"pairs": len(pairs), "smaller": i32(smaller), "larger": i32(larger), "chain": chain}


def _aliquot(n):
    sigma = 1
    for p in set(_factors(n)):
        e = _factors(n).count(p)
        sigma *= (p ** (e + 1) - 1) // (p - 1)
    return sigma - n


def continued_fraction():
    def terms(p, q):
        return [p // q] + (terms(q, p % q) if p % q else [])

    packed = e_terms = 0
    for t in terms(649, 200):
        packed = packed * 20 + t
    for t in terms(1457, 536):
        e_terms = e_terms * 10 + t
    return {"length": len(terms(649, 200)), "packed": packed, "p": 649, "q": 200, "e_terms": e_terms}


def remainders():
    four = zip((11, 13, 17, 19), (4, 9, 1, 12))
    rests = dict(four)
    return {
        "riddle": next(x for x in range(105) if (x % 3, x % 5, x % 7) == (2, 3, 2)),
        "four": next(x for x in range(46189) if all(x % m == r for m, r in rests.items())),
    }


def miller_rabin():
    return {
        "mersenne": _is_prime(2147483647),
        "largest": _is_prime(4294967291),
        "carmichael": _is_prime(561),
        "product": False,
        "count": sum(map(_is_prime, range(1000, 1100))),
    }


def lcg():
    states, state = [], 42
    for _ in range(70):
        state = (state * 1664525 + 1013904223) % 2**32
        states.append(state)
    s = 2463534242
    for _ in range(10):
        s = u32(s ^ s << 13)
        s ^= s >> 17
        s = u32(s ^ s << 5)
    dice = [(x >> 16) % 6 for x in states[10:]]
    packed = 0
    for face in range(6):
        packed = packed * 32 + dice.count(face)
    return {"tenth": states[9], "shifted": s, "sixes": dice.count(5), "packed": i32(packed)}


def stern_brocot():
    # The runs of rights and lefts are the terms of the continued fraction [3; 7], the last less one.
    path = "1" + "1" * 3 + "0" * 6
    diatomic = [0, 1]
    for n in range(2, 1001):
        half = n // 2
        diatomic.append(diatomic[half] + (diatomic[half + 1] if n % 2 else 0))
    return {"path": int(path, 2), "depth": len(path) - 1, "p": 22, "q": 7, "d100": diatomic[1000]}


def pi_spigot():
    digits = "3141592653589793"
    # The last digit is held back.
    return {"first_nine": int(digits[:9]), "sum": sum(map(int, digits[:15]))}


def big_factorial():
    text = str(math.factorial(50))
    return {
        "length": len(text),
        "sum": sum(map(int, text)),
        "zeros": len(text) - len(text.rstrip("0")),
        "leading": int(text[:9]),
    }


def four_squares():
    squares = [k * k for k in range(11)]
    ways = {
        tuple(sorted((a, b, c, d)))
        for a in squares
        for b in squares
        for c in squares
        for d in squares
        if a + b + c + d == 100
    }
    # Legendre: three squares are not enough exactly for 4^a(8b + 7).
    four = [n for n in range(1, 101) if any(n % 4**a == 0 and n // 4**a % 8 == 7 for a in range(4))]
    return {"ways": len(ways), "needing_four": len(four), "worst": max(four)}
