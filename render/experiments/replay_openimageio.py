"""Replays a request stream through OpenImageIO's texture cache and prints its statistics.

Usage: replay_openimageio.py [--no-derivatives] [--numbers] REQUESTS BUDGET_MB FILE...

REQUESTS is a file of `texture::replay::write_requests`; the files are the textures in the order of
their indices, which repeat. The level is OpenImageIO's trilinear one: `LevelRule::OiioTriFormula`.
With --numbers it prints three numbers alone: tiles that were read at least once, reads of tiles
that had been read before, and the most bytes of tiles in memory at once.
Needs the package `openimageio` (3.2.2 was used).
"""

import argparse
import re

import OpenImageIO


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-derivatives", action="store_true", help="set all partials to zero")
    parser.add_argument("--numbers", action="store_true", help="print three numbers alone")
    parser.add_argument("requests")
    parser.add_argument("budget", type=float, metavar="BUDGET_MB")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()

    textures = OpenImageIO.TextureSystem(False)
    textures.attribute("max_memory_MB", arguments.budget)
    options = OpenImageIO.TextureOpt()
    options.swrap = options.twrap = OpenImageIO.Wrap.Periodic
    options.mipmode = OpenImageIO.MipMode.Trilinear
    options.interpmode = OpenImageIO.InterpMode.Bilinear
    options.anisotropic = 1
    with open(arguments.requests) as requests:
        for request in requests:
            index, u, v, *partials = request.split()
            partials = [0.0 if arguments.no_derivatives else float(p) for p in partials]
            file = arguments.files[int(index)]
            textures.texture(file, options, float(u), float(v), *partials, 4)
    error = textures.geterror()
    if error:
        raise SystemExit(error)
    statistics = textures.getstats(2)
    if not arguments.numbers:
        print(statistics)
        return
    print(statistics_numbers(statistics))


def statistics_numbers(statistics):
    """The three numbers of --numbers in the text of OpenImageIO's statistics."""
    created = int(re.search(r"Tiles: (\d+) created", statistics)[1])
    redundant = int(re.search(r"redundant reads: (\d+) tiles", statistics)[1])
    peak, unit = re.search(r"Peak cache memory : ([\d.]+) (\w+)", statistics).groups()
    factor = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}[unit]
    return f"{created - redundant} {redundant} {round(float(peak) * factor)}"


main()
