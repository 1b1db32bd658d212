"""`python -m adumbra` is the command `adumbra`."""

from ._command import adumbra

adumbra()
