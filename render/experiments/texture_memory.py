"""Checks the memory of textures: conversions, kept ones, and parking in small budgets.

Usage: texture_memory.py RENDERER FOLDER

RENDERER is the command `adumbra-render`, of a release build. FOLDER gets about 2 GB of files, which
later runs use again. Reads peaks from /proc, so it needs Linux. Needs the package `pillow`, which
writes JPEG files.
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import time
import zlib

from PIL import Image

SCENE = {
    "camera": {"perspective": {"from": [0, 1, 0], "to": [0, 0, -6], "fov": 60}},
    "meshes": {"floor": {"plane": {}}},
    "instances": [{"mesh": "floor", "material": "floor", "transform": [{"scale": [400, 1, 400]}]}],
}
SHADER = """texture2d t;
shader floor(out color c)
{
    float2 p = global_value<uvw>.xy * 40.0;
    c = texture2d_sample<t>(p.x, p.y);
}
"""


def write_png(path, side):
    """Writes rows of noise."""
    rng = random.Random(1)

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    rows = [rng.randbytes(768) * (side // 256) for _ in range(64)]
    data = zlib.compress(b"".join(b"\0" + rows[y * 7 % 64] for y in range(side)), 1)
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts))


def write_exr(path, side, tile=64):
    """Writes half floats in tiles without mip levels."""

    def attribute(name, kind, data):
        return f"{name}\0{kind}\0".encode() + struct.pack("<i", len(data)) + data

    half = struct.pack("<iBBBBii", 1, 0, 0, 0, 0, 1, 1)
    channels = b"".join(name + b"\0" + half for name in (b"B", b"G", b"R"))
    window = struct.pack("<iiii", 0, 0, side - 1, side - 1)
    header = struct.pack("<II", 0x01312F76, 2 | 0x200)
    header += attribute("channels", "chlist", channels + b"\0")
    header += attribute("compression", "compression", b"\3")
    header += attribute("dataWindow", "box2i", window) + attribute("displayWindow", "box2i", window)
    header += attribute("lineOrder", "lineOrder", b"\0")
    header += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    header += attribute("screenWindowCenter", "v2f", struct.pack("<ff", 0, 0))
    header += attribute("screenWindowWidth", "float", struct.pack("<f", 1))
    header += attribute("tiles", "tiledesc", struct.pack("<IIB", tile, tile, 0)) + b"\0"
    at = [(x, y, c) for y in range(tile) for c in range(3) for x in range(tile)]
    raw = b"".join(struct.pack("<e", (x * 3 + y * 5 + c * 7) % 64 / 64) for x, y, c in at)
    raw = raw[0::2] + raw[1::2]
    raw = raw[:1] + bytes((b - a + 128) & 255 for a, b in zip(raw, raw[1:]))
    data, across = zlib.compress(raw), side // tile
    first = len(header) + 8 * across * across
    offsets = [first + at * (20 + len(data)) for at in range(across * across)]
    with open(path, "wb") as file:
        file.write(header + struct.pack(f"<{len(offsets)}Q", *offsets))
        for at in range(across * across):
            file.write(struct.pack("<iiiii", at % across, at // across, 0, 0, len(data)) + data)


def write_glb(path, images):
    """Writes a square with these JPEG files as its maps."""
    corners = struct.pack("<12f", -1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1)
    normals, uvs = struct.pack("<12f", *[0, 1, 0] * 4), struct.pack("<8f", 0, 0, 1, 0, 1, 1, 0, 1)
    binary, views = b"", []
    for part in [corners, normals, uvs, struct.pack("<6H", 0, 2, 1, 0, 3, 2), *images]:
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(part)})
        binary += part + bytes(-len(part) % 4)
    kinds = [(5126, 4, "VEC3"), (5126, 4, "VEC3"), (5126, 4, "VEC2"), (5123, 6, "SCALAR")]
    keys = ("bufferView", "componentType", "count", "type")
    accessors = [dict(zip(keys, (at, *kind))) for at, kind in enumerate(kinds)]
    accessors[0] |= {"min": [-1, 0, -1], "max": [1, 0, 1]}
    attributes = {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}
    root = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 3, "material": 0}]}],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(binary)}],
        "materials": [{}],
    }
    if images:
        root["images"] = [{"bufferView": 4 + at, "mimeType": "image/jpeg"} for at in range(3)]
        root["textures"] = [{"source": at} for at in range(3)]
        maps = {"baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 1}}
        root["materials"] = [{"pbrMetallicRoughness": maps, "normalTexture": {"index": 2}}]
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(b"glTF" + struct.pack("<II", 2, 28 + len(text) + len(binary)))
        file.write(struct.pack("<I", len(text)) + b"JSON" + text)
        file.write(struct.pack("<I", len(binary)) + b"BIN\0" + binary)


def run(renderer, arguments):
    """Peak megabytes, seconds, and tiles read."""
    start = time.monotonic()
    options = ["-o", "out.png", "--threads", "2", "--stats", *arguments]
    with open("stats.txt", "w+") as stats:
        child = subprocess.Popen([renderer, *options], stdout=stats, stderr=subprocess.STDOUT)
        peak = 0
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status") as status:
                    found = re.search(r"VmHWM:\s+(\d+)", status.read())
            except OSError:
                found = None
            peak = max(peak, int(found[1]) if found else 0)
            time.sleep(0.002)
        seconds = time.monotonic() - start
        stats.seek(0)
        text = stats.read()
    if child.returncode:
        sys.exit(text)
    tiles = re.search(r"tiles +(\d+) read", text)
    return peak / 1024, seconds, int(tiles[1])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    renderer = os.path.abspath(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    os.chdir(sys.argv[2])
    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    with open("floor.adu", "w") as file:
        file.write(SHADER)
    for name, write, side in [("8k.png", write_png, 8192), ("16k.exr", write_exr, 16384)]:
        if not os.path.exists(name):
            write(name, side)
        shader = {"file": "floor.adu", "textures": {"t": "t"}}
        scene = {"textures": {"t": {"file": name}}, "materials": {"floor": {"shader": shader}}}
        with open(name + ".json", "w") as file:
            json.dump(SCENE | scene, file)
    images = []
    for at in range(3):
        noise = Image.frombytes("RGB", (512, 512), random.Random(at).randbytes(512 * 512 * 3))
        noise.resize((4096, 4096), Image.BICUBIC).save("map.jpg", quality=92)
        with open("map.jpg", "rb") as file:
            images.append(file.read())
    write_glb("three.glb", images)
    write_glb("empty.glb", [])
    is_right = True

    def check(what, found, most):
        nonlocal is_right
        is_right &= found <= most
        print(f"{'ok  ' if found <= most else 'FAIL'} {what}: {found:.1f}, at most {most:.1f}")

    budget = ["--texture-memory", "16", "--size", "320x180"]
    empty, *_ = run(renderer, ["empty.glb", *budget])
    for name, decoded in [("three.glb", 48), ("8k.png.json", 192), ("16k.exr.json", 1536)]:
        first, *_ = run(renderer, [name, *budget, "--no-texture-cache"])
        check(f"{name}, conversion, MB", first - empty, decoded + 64)
        run(renderer, [name, *budget])
        second, seconds, _ = run(renderer, [name, *budget])
        check(f"{name}, kept conversion, MB", second - empty, 64)
        check(f"{name}, kept conversion, s", seconds, 1)
    for megabytes in [1, 4, 64]:
        budget = ["--texture-memory", str(megabytes), "--size", "640x360", "--derivatives", "none"]
        block = run(renderer, ["8k.png.json", *budget, "--block"])
        park = run(renderer, ["8k.png.json", *budget])
        check(f"{megabytes} MB, parking, MB", park[0], megabytes + 64)
        check(f"{megabytes} MB, parking, s", park[1], 1.05 * block[1])
        check(f"{megabytes} MB, parking, tiles", park[2], 1.05 * block[2])
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
