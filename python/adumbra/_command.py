"""The commands `adumbra` and `adumbra-render`, which the package installs."""

import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from ._adumbra import run_adumbra, run_adumbra_render


def _run(command: Callable[[list[str]], int], name: str) -> NoReturn:
    # A command ends at Ctrl-C as others do, or has a handler of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command([name, *sys.argv[1:]]))


def adumbra() -> NoReturn:
    """Runs `adumbra` by the arguments of the process, and exits."""
    _run(run_adumbra, "adumbra")


def adumbra_render() -> NoReturn:
    """Runs `adumbra-render` by the arguments of the process, and exits."""
    _run(run_adumbra_render, "adumbra-render")
