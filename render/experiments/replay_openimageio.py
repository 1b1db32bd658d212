"""Replays a request stream through OpenImageIO's texture cache and prints its statistics.

Usage: replay_openimageio.py [--no-derivatives] REQUESTS BUDGET_MB FILE...

REQUESTS is a file of `texture::replay::write_requests`; the files are the textures in the order of
their indices, which repeat. The level is OpenImageIO's trilinear one: `LevelRule::OiioTriFormula`.
Needs the package `openimageio` (3.2.2 was used).
"""

import argparse

import OpenImageIO


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-derivatives", action="store_true", help="set all partials to zero")
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
    print(textures.getstats(2))


main()
