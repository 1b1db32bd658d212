"""Runs of programs, differences, machine integers."""

import inspect
import struct


class Held(float):
    """A float whose derivative the language holds to be 0, because it is a derivative itself."""


def within(tolerance):
    """States the tolerance of a function's floats, relative or absolute, whichever is wider."""

    def mark(function):
        function.tolerance = tolerance
        return function

    return mark


exact = within(0.0)


def i32(x):
    """The int with the low 32 bits of x."""
    return (x + 0x80000000) % 0x100000000 - 0x80000000


def u32(x):
    """The uint with the low 32 bits of x."""
    return x % 0x100000000


def quotient(a, b):
    """Division that truncates."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    """What truncating division leaves."""
    return a - quotient(a, b) * b


def f32(x):
    """The float nearest to x."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bits(x):
    """The bits of the float x."""
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_bits(word):
    """The float with those bits."""
    return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]


def _combine(terms):
    """Σ weight·value over numbers, or tuples part by part."""
    first = terms[0][1]
    if isinstance(first, (tuple, list)):
        return tuple(_combine([(w, v[i]) for w, v in terms]) for i in range(len(first)))
    return sum(w * v for w, v in terms)


def slope(f):
    """f′(0) for a smooth f of one number, by three steps of Richardson's extrapolation; f may give tuples."""
    h = 2.0**-10
    table = []
    for i in range(4):
        step = h / 2**i
        row = [_combine([(0.5 / step, f(step)), (-0.5 / step, f(-step))])]
        for j in range(1, i + 1):
            k = 4.0**j
            row.append(_combine([(k / (k - 1), row[j - 1]), (-1 / (k - 1), table[-1][j - 1])]))
        table.append(row)
    return table[-1][-1]


def _value(text):
    """A value as -g and --arg write it."""
    if text in ("true", "false"):
        return text == "true"
    if "," in text:
        return tuple(float(part) for part in text.split(","))
    if text.endswith("i"):
        return int(text[:-1])
    return float(text)


class Point:
    """The point of a run, for programs that ask for derivatives themselves: `point.ddx(lambda u, v: …)` of the run's globals."""

    def __init__(self, run, values):
        self.run, self.values = run, values

    def _slope(self, f, direction):
        names = inspect.signature(f).parameters

        def moved(step):
            values = self.run.moved(self.values, step, direction)
            return f(**{n: values[n] for n in names})

        return slope(moved)

    def ddx(self, f):
        return self._slope(f, "x")

    def ddy(self, f):
        return self._slope(f, "y")


class Run:
    """The options of a `// run:` line."""

    def __init__(self, line):
        words = line.split()
        self.derivs = "--derivs" in words
        self.values = {}
        self.shadows = {"x": {}, "y": {}}
        for option, word in zip(words, words[1:]):
            if option not in ("-g", "--arg"):
                continue
            name, _, given = word.partition("=")
            value, *shadows = given.split(":")
            self.values[name] = _value(value)
            for direction, shadow in zip("xy", shadows):
                self.shadows[direction][name] = _value(shadow)

    def moved(self, values, step, direction):
        """Values a step away along x or y."""
        moved = dict(values)
        for name, shadow in self.shadows[direction].items():
            moved[name] = _combine([(1.0, values[name]), (step, shadow)])
        return moved

    def call(self, function, step=0.0, direction="x"):
        """A program's outputs, a step away from its point. Ints among the arguments stay ints where the function says `: int`."""
        values = self.moved(self.values, step, direction)
        arguments = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name == "point":
                arguments[name] = Point(self, values)
            elif parameter.annotation is int:
                arguments[name] = int(values[name])
            else:
                arguments[name] = values[name]
        return function(**arguments)

    def slope(self, function, name, direction):
        """The derivative of one output along x or y."""
        return slope(lambda step: self.call(function, step, direction)[name])


def _show_float(x):
    return format(x, ".9g") if abs(x) > 1e-13 else "0"


def show(value):
    """A value as a header writes it, and whether it has floats."""
    if isinstance(value, bool):
        return str(value).lower(), False
    if isinstance(value, int):
        return str(value), False
    if isinstance(value, float):
        return _show_float(value), True
    parts = [show(part) for part in value]
    separator = "; " if isinstance(value[0], (tuple, list)) else ", "
    return separator.join(text for text, _ in parts), any(f for _, f in parts)
