"""Programs whose statements are the point: switches, parsers, machines."""

import math
import re


def state_machine():
    numbers, errors = [], 0
    for word in "12 -7  +30 x5 8- 100".split():
        if re.fullmatch(r"[-+]?\d+", word):
            numbers.append(int(word))
        else:
            errors += 1
    return {"sum": sum(numbers), "numbers": len(numbers), "errors": errors}


def shapes_by_kind(kind, s):
    if kind == 0:
        return {"area": s * s, "perimeter": 4 * s}
    if kind == 1:
        return {"area": math.sqrt(3) / 4 * s * s, "perimeter": 3 * s}
    rim = 2 * math.pi * s + (s if kind == 2 else 0)
    return {"area": math.pi * s * s, "perimeter": rim}
