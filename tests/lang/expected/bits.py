"""Bits, hashes, and floats as bits."""

import zlib

from support import bits, f32, from_bits, i32, u32, within


def _rotate(x, n):
    return u32(x << n) | x >> (32 - n)


def popcount():
    n = bin(0xDEADBEEF).count("1")
    return {"clearing": n, "parallel": n, "nibbles": n, "bytes": 1024}


def reversal():
    def reverse(x):
        return int(f"{x:032b}"[::-1], 2)

    def swap(x):
        return int.from_bytes(x.to_bytes(4, "little"), "big")

    return {
        "r": reverse(0x12345678),
        "s": swap(0x12345678),
        "twice": 0xCAFEBABE,
        "both": reverse(swap(0x80000001 + 0x0F00)),
    }


def gray_code():
    # The reflected code: the second half is the first in reverse with the top bit set.
    codes = [0]
    while len(codes) < 0x8000:
        codes += [len(codes) | c for c in reversed(codes)]
    sum_ = sum(codes[n] * n for n in range(100))
    return {"g": codes[0x5A5A], "back": 0x5A5A, "one_bit": True, "sum": i32(sum_)}


def morton():
    def interleave(x, y):
        pairs = zip(f"{y:016b}", f"{x:016b}")
        return int("".join(b + a for b, a in pairs), 2)

    along = 0
    for i in range(16):
        along = i32(along * 3 + interleave(i % 4, i // 4))
    return {
        "code": interleave(0x1234, 0xABCD >> 1),
        "x": 0x1234,
        "y": 0xABCD >> 1,
        "along": along,
    }


def powers_of_two():
    def leading(x):
        return 32 - x.bit_length()

    def trailing(x):
        return 32 if x == 0 else len(bin(x)) - len(bin(x).rstrip("0"))

    return {
        "up": 1024 + 1024 + 1,
        "leading": 32 * 10000 + 31 * 100 + leading(0x00F00000),
        "trailing": 32 * 10000 + 31 * 100 + trailing(40),
        "sum": sum(leading(x) * trailing(x) for x in range(1, 65)),
    }


def hex_and_shifts():
    return {
        "pattern": -1,
        "negative": 0,
        "masked": 1 << (33 & 31),
        "negative_count": i32(1 << (-1 & 31)),
        "arithmetic": -1000 // 8,
        "logical": 0xFFFFFC18 // 8,
        "mixed": i32(0x0F | (0xF0 ^ (0xFF & ((~0x3C) << 2)))),
    }


def crc32():
    check = zlib.crc32(b"123456789")
    assert check == 0xCBF43926
    return {"check": check, "hex": i32(check)}


def adler_fletcher():
    text = b"Wikipedia"
    first = sum(text) % 255
    second = sum(sum(text[: i + 1]) for i in range(len(text))) % 255
    return {"adler": zlib.adler32(text), "fletcher": second << 8 | first}


def fnv_murmur():
    def fnv(text):
        h = 2166136261
        for byte in text:
            h = u32((h ^ byte) * 16777619)
        return h

    def finalize(h):
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
            h = u32((h ^ h >> shift) * factor)
        return h

    h = 7
    for k in range(5):
        k = u32(_rotate(u32(k * 0xCC9E2D51), 15) * 0x1B873593)
        h = u32(_rotate(h ^ k, 13) * 5 + 0xE6546B64)
    assert fnv(b"foobar") == 0xBF9CF968
    return {"fnv": fnv(b"foobar"), "mixed": finalize(1), "rotated": 0x18, "whole": finalize(h ^ 20)}


@within(1e-6)
def float_bits():
    # 118.625 = 1.853515625 · 2^6
    x = 0.15625
    y = from_bits(0x5F3759DF - (bits(x) >> 1))
    return {
        "one": 0x3F800000,
        "negative": i32(0x80000000),
        "exponent": 6,
        "mantissa": int((118.625 / 64 - 1) * 2**23),
        "ulp": bits(2.0**-23),
        "near": 2 + 2.0**-22,
        "guess": y * (1.5 - 0.5 * x * y * y),
    }


@within(0)
def float_to_int():
    return {
        "down": 2,
        "up": -2,
        "top": 2**31 - 1,
        "bottom": -(2**31),
        "nothing": 0,
        "no_sign": 0,
        "even": f32(16777217),
        "odd": f32(16777219),
        "truth": True,
        "one": 1.0,
    }


def bit_sets():
    evens = set(range(0, 30, 2))
    squares = {i * i for i in range(6)}
    mask = lambda members: sum(1 << m for m in members)
    triples = sorted(s for s in range(32) if bin(s).count("1") == 3)
    packed = 0
    for s in triples:
        packed = i32(packed * 7 + s)
    return {
        "united": mask(evens | squares),
        "minus": mask(evens - squares),
        "within": True,
        "subsets": len(triples),
        "sum": packed,
    }


def lfsr():
    def states(start, taps):
        state = start
        while True:
            state = state // 2 ^ (taps if state % 2 else 0)
            yield state

    def period(taps):
        return next((n for n, s in enumerate(states(1, taps), 1) if s == 1 or n == 1000))

    run = states(0xE1, 0xB8)
    return {"full": period(0xB8), "short_": period(0x88), "state": [next(run) for _ in range(100)][-1]}


def binary_coded_decimal():
    return {"a": 0x12345678, "b": 0x99999999, "sum": int(str(1234567 + 7654399), 16)}


def xor_tricks():
    return {"single": 77, "first": 7, "second": 90, "missing": 5, "swapped": -4 * 100 + 17}


def wide_multiply():
    product = 0xFEDCBA98 * 0x89ABCDEF
    total = 0xFFFFFFFF + sum(u32(0x12345678 * k) * 0xF0F0F0F0 for k in range(1, 10))
    return {
        "low": u32(product),
        "high": product >> 32,
        "sum_low": u32(total),
        "sum_high": u32(total >> 32),
    }
