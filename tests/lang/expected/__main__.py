"""The expected values of the programs in tests/lang, worked out without the project.

    python3 tests/lang/expected            says which headers differ from what is worked out here
    python3 tests/lang/expected --write    puts the `out:` and `sample:` lines into the headers

Every folder of programs has a module here with one function per program. Its parameters are names that the program's `// run:` lines
set with -g and --arg; it gives the outputs by name, in order, and under `sample TEXTURE` the coordinates of a request. Ints are exact. Floats are computed in double; their derivatives
(`--derivs`) come from no rule, but from Richardson's extrapolation of central differences along the shadows of the run, so that
nothing is shared with the rules under test. Tolerances are for the program's arithmetic in float: 1e-5 unless the function says `@within`.
"""

import importlib
import inspect
import pathlib
import sys

sys.dont_write_bytecode = True

from support import Held, Run, show

HERE = pathlib.Path(__file__).parent
SOURCE = "// source: expected/"


def out_lines(function, run):
    """The `out:` and `sample:` lines of one run."""
    outputs = run.call(function)
    tolerance = getattr(function, "tolerance", 1e-5)
    for name, value in outputs.items():
        if name.startswith("sample "):
            slopes = [run.slope(function, name, direction) for direction in "xy"]
            numbers = [s[part] for part in (0, 1) for s in slopes]
            shown = [show(float(number))[0] for number in [*value, *numbers]]
            texture = name.split()[1]
            yield f"// sample: {texture} {' '.join(shown[:2])} : {' '.join(shown[2:])} ~ {tolerance:g}"
            continue
        text, is_float = show(value)
        if is_float and run.derivs and isinstance(value, Held):
            text += " : 0 : 0"
        elif is_float and run.derivs:
            for direction in "xy":
                text += " : " + show(run.slope(function, name, direction))[0]
        yield f"// out: {name} = {text}" + (f" ~ {tolerance:g}" if is_float else "")


def with_out_lines(text, function):
    """The program with the lines that its header should have."""
    start = "// run: " if "\n// run: " in text else SOURCE
    lines = []
    for line in text.splitlines():
        if not line.startswith(("// out: ", "// sample: ")):
            lines.append(line)
        if line.startswith(start):
            lines.extend(out_lines(function, Run(line)))
    return "\n".join(lines) + "\n"


def main():
    write = "--write" in sys.argv
    functions = set()
    differing = []
    for file in sorted(HERE.parent.glob("*/*.adu")):
        text = file.read_text()
        if SOURCE not in text:
            continue
        name = f"{file.parent.name}.{file.stem}"
        module = importlib.import_module(file.parent.name)
        function = getattr(module, file.stem, None)
        if function is None:
            differing.append(f"{name}: no function of that name")
            continue
        functions.add(function)
        wanted = with_out_lines(text, function)
        if wanted != text:
            differing.append(f"{name}: " + ("written" if write else "differs"))
            if write:
                file.write_text(wanted)
    for module in {sys.modules[f.__module__] for f in functions}:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            is_program = function.__module__ == module.__name__ and not name.startswith("_")
            if is_program and function not in functions:
                differing.append(f"{module.__name__}.{name}: no program of that name")
    print("\n".join(differing) or f"{len(functions)} programs, no difference")
    return 1 if differing and not write else 0


sys.exit(main())
