"""Fits: the inputs with which a shader draws an image, by the command `adumbra fit`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._adumbra import Program, compile, read_image, write_image
from ._image import image

# The time between two looks at the progress of a fit, in seconds.
_PERIOD = 0.5


class FitError(RuntimeError):
    """A fit that could not be made. Its text is what the command reports."""


@dataclass(frozen=True)
class FitProgress:
    """How far a fit has come."""

    #: Restarts that have ended.
    restarts: int
    #: Iterations of all restarts.
    iterations: int
    #: The least loss so far, without noise.
    loss: float
    #: Seconds since the fit began.
    seconds: float


@dataclass(frozen=True, repr=False)
class FitResult:
    """What a fit came to."""

    #: The shader with the inputs that were found as defaults.
    program: Program
    #: Its text, in which the numbers of the defaults have changed and nothing else.
    source: str
    #: The inputs that were found, by name: numbers, or lists of numbers.
    inputs: dict[str, Any]
    #: The least loss.
    loss: float
    #: The image of the result: an array (height, width) or (height, width, channels).
    image: NDArray[Any]
    #: The report of the command: restarts with losses, iterations, seconds and traces.
    report: dict[str, Any]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.inputs.items())
        return f"<FitResult loss {self.loss:.6g}: {values}>"

    def _repr_markdown_(self) -> str:
        lines = [f"loss {self.loss:.6g}", "", "| input | value |", "|---|---|"]
        lines += [f"| `{name}` | {value} |" for name, value in self.inputs.items()]
        return "\n".join(lines)


def _target(target: ArrayLike | str | os.PathLike[str], folder: Path) -> Path:
    """The file of an image, which is written if it is an array."""
    if isinstance(target, (str, os.PathLike)):
        return Path(target).absolute()
    image = np.asarray(target)
    if image.ndim == 3 and image.shape[2] == 2:
        raise ValueError("a target has 1, 3 or 4 channels, not 2")
    path = folder / "target.exr"
    write_image(path, image)
    return path


def _check_start(program: Program, start: Mapping[str, Any]) -> None:
    """Checks that the values of a start are within the ranges of their inputs."""
    for name, value in start.items():
        if name not in program.inputs:
            raise KeyError(f"the program has no input `{name}`")
        metadata = program.inputs[name].metadata
        least, most = metadata.get("min", -np.inf), metadata.get("max", np.inf)
        if not np.all((np.asarray(value) >= least) & (np.asarray(value) <= most)):
            raise ValueError(f"`{name}` starts at {value}, which is not from {least} to {most}")


def _within(name: str) -> str:
    """The name of a source as one in a folder, whatever leads out of it left out."""
    if name.startswith("<"):
        return "shader.adu"
    return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))


def _number(value: Any) -> str:
    return ",".join(repr(float(number)) for number in np.ravel(np.asarray(value)))


def fit(
    program: Program,
    target: ArrayLike | str | os.PathLike[str],
    *,
    rules: str = "edge",
    wrt: str | Sequence[str] | None = None,
    start: Mapping[str, Any] | None = None,
    textures: Mapping[str, Any] | None = None,
    restarts: int = 1,
    iterations: int = 44,
    random_seed: int = 0,
    noise: bool = False,
    loss: str = "l2",
    mask: ArrayLike | str | os.PathLike[str] | None = None,
    learning_rate: float | None = None,
    accept: float | None = None,
    prune: bool = False,
    time_limit: float | None = None,
    size: int | tuple[int, int] | None = None,
    output: str | None = None,
    threads: int = 0,
    progress: Callable[[FitProgress], None] | None = None,
) -> FitResult:
    """Finds the inputs with which a shader draws an image.

    `target` is an array (height, width) or (height, width, channels) of linear floats, or the path
    of an image. Inputs are fitted within the ranges `min` and `max` of their metadata, or around
    their defaults; `wrt` names those that are fitted, all that have floats by default. `start` has
    inputs that are not fitted, or where the first restart has those that are; the others begin
    anywhere in the ranges.
    `rules` are `"edge"`, `"pair"`, `"smooth"`, `"fd"` or `"spsa"`. `progress` is called twice a
    second, or so. The rest is as in `adumbra fit`, which runs in a process of its own: an exception
    of `progress`, and Ctrl-C, end it.

    Raises `FitError` with the report of the command.

    >>> import adumbra
    >>> disc = adumbra.compile('''shader disc(float radius = 0.2 <<< min = 0.05, max = 0.5 >>>, out float c) {
    ...     c = length(global_value<uv> - 0.5) < radius ? 1.0 : 0.0; }''')
    >>> target = adumbra.image(disc, 32, {"radius": 0.4})
    >>> found = adumbra.fit(disc, target)
    >>> abs(found.inputs["radius"] - 0.4) < 0.01
    True
    """
    for name, given, known in (
        ("rules", rules, ("edge", "pair", "smooth", "fd", "spsa")),
        ("loss", loss, ("l2", "l1")),
    ):
        if given not in known:
            raise ValueError(f"`{name}` is one of {', '.join(known)}, not {given!r}")
    wrt = [wrt] if isinstance(wrt, str) else wrt
    size = (size, size) if isinstance(size, int) else size
    _check_start(program, start or {})
    files = program.files
    if not files:
        raise FitError("a program from bytecode has no defaults to be written: load its source")
    with tempfile.TemporaryDirectory(prefix="adumbra-") as name:
        folder = Path(name)
        names = [_within(file) for file in files]
        for file, text in zip(names, files.values()):
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        image_file = _target(target, folder)
        command = [
            *[sys.executable, "-m", "adumbra", "fit", str(folder / names[0])],
            *["--target", str(image_file), "-o", str(folder / "out" / "found.adu")],
            *["--rules", rules, "--restarts", str(restarts), "--iterations", str(iterations)],
            *["--random-seed", str(random_seed), "--loss", loss, "--shader", program.name, "--json"],
        ]
        (folder / "out").mkdir()
        if wrt is not None:
            unknown = [own for own in wrt if own not in program.inputs]
            if unknown:
                raise KeyError(f"the program has no input `{unknown[0]}`")
            command += [f"--fixed={own}" for own in program.inputs if own not in wrt]
        command += [f"--arg={own}={_number(value)}" for own, value in (start or {}).items()]
        for own, texture in (textures or {}).items():
            path = texture
            if not isinstance(texture, (str, os.PathLike)):
                path = folder / f"texture-{own}.exr"
                write_image(path, np.asarray(texture))
            command.append(f"--texture={own}={path}")
        if mask is not None:
            if not isinstance(mask, (str, os.PathLike)):
                counts = np.asarray(mask, np.float32)
                shape = read_image(image_file).shape[:2]
                if counts.shape[:2] != shape:
                    raise ValueError(f"the mask is for {counts.shape[:2]} pixels, and the target has {shape}")
                write_image(folder / "mask.exr", counts)
                mask = folder / "mask.exr"
            command.append(f"--mask={os.fspath(mask)}")
        options = {
            "learning-rate": learning_rate,
            "accept": accept,
            "time-limit": time_limit,
            "output": output,
            "size": None if size is None else f"{size[0]}x{size[1]}",
            "threads": threads or None,
            "noise": "on" if noise else None,
        }
        command += [f"--{option}={value}" for option, value in options.items() if value is not None]
        if prune:
            command.append("--prune")
        state = folder / "state"
        if progress is not None:
            command += ["--checkpoint", str(state)]
        _run(command, state / "fit.json", progress)
        run = json.loads((folder / "out" / "found.run.json").read_text())
        report = run["report"]
        height, width = read_image(image_file).shape[:2]
        sides = size or (width, height)
        source = (folder / "out" / "found.adu").read_text()
        found = compile(
            source,
            name=next(iter(files)),
            files={file: text for file, text in list(files.items())[1:]},
            shader=program.name,
        )
        return FitResult(
            program=found,
            source=source,
            inputs=report["parameters"],
            loss=report["loss"],
            image=image(found, sides, textures=textures, output=output, threads=threads),
            report=report,
        )


def _run(command: list[str], state: Path, progress: Callable[[FitProgress], None] | None) -> None:
    """Runs a command to its end, and reports how far it has come."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) as process:
            try:
                while True:
                    try:
                        process.wait(_PERIOD if progress else None)
                        break
                    except subprocess.TimeoutExpired:
                        pass
                    if progress and state.exists():
                        progress(_progress(json.loads(state.read_text()), time.monotonic() - began))
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            errors.seek(0)
            messages = []
            for line in errors.read().splitlines():
                try:
                    found = json.loads(line)
                except ValueError:
                    messages.append(line)
                else:
                    messages.append(found.get("message", line))
            raise FitError("\n".join(messages) or f"the fit ended with {process.returncode}")


def _progress(state: dict[str, Any], seconds: float) -> FitProgress:
    finished = state["finished"]
    records = finished + ([state["current"]["record"]] if state["current"] else [])
    return FitProgress(
        restarts=len(finished),
        iterations=sum(record["iterations"] for record in records),
        loss=min((float(record["loss"]) for record in records), default=float("inf")),
        seconds=seconds,
    )
