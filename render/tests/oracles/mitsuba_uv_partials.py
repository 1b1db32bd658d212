"""uv partials of Mitsuba 3 (`compute_uv_partials`) on three scenes, for the renderer's tests.

Run: pip install mitsuba==3.9.1 && python mitsuba_uv_partials.py > ../data/mitsuba_uv_partials.json

Cameras, rays with differentials and hits are Mitsuba's own; only the numbers of a scene are ours.
Mitsuba computes in f32 and takes differences to the rays of the next pixels.
"""

import json
import math
import os
import random
import sys
import tempfile

import mitsuba as mi

mi.set_variant("scalar_rgb")
RESOLUTION = (160, 120)


def grid(size, uv_scale, height):
    """A grid of (size × size) squares over x, z in −1…1, with a height and stretched uvs."""
    positions, uvs, triangles = [], [], []
    for j in range(size + 1):
        for i in range(size + 1):
            x, z = 2 * i / size - 1, 2 * j / size - 1
            positions.append([x, height(x, z), z])
            u, v = i / size, j / size
            uvs.append([uv_scale * (u + 0.2 * v * v), uv_scale * (v - 0.1 * u * u)])
    for j in range(size):
        for i in range(size):
            a = j * (size + 1) + i
            b, c, d = a + 1, a + size + 1, a + size + 2
            triangles += [[a, c, b], [b, c, d]]
    return positions, uvs, triangles


def write(mesh, file):
    positions, uvs, triangles = mesh
    for p in positions:
        file.write("v %.9g %.9g %.9g\n" % tuple(p))
    for t in uvs:
        file.write("vt %.9g %.9g\n" % tuple(t))
    for t in triangles:
        file.write("f " + " ".join("%d/%d" % (i + 1, i + 1) for i in t) + "\n")


def camera(kind, origin, target, up, width):
    """Mitsuba's sensor, and the same as the renderer's numbers; `width` is tan of half the angle of
    view, or half the width that is seen."""
    to_world = mi.ScalarTransform4f().look_at(origin=origin, target=target, up=up)
    sensor = {
        "type": kind,
        "film": {"type": "hdrfilm", "width": RESOLUTION[0], "height": RESOLUTION[1],
                 "filter": {"type": "box"}},
        # Side rays start where the ray leaves the near plane.
        "near_clip": 1e-5,
    }
    if kind == "perspective":
        sensor["to_world"] = to_world
        sensor["fov"] = math.degrees(2 * math.atan(width))
        sensor["fov_axis"] = "x"
    else:
        sensor["to_world"] = to_world @ mi.ScalarTransform4f().scale([width, width, 1])
    left, above, forward = ([to_world.matrix[i, j] for i in range(3)] for j in range(3))
    height = width * RESOLUTION[1] / RESOLUTION[0]
    ours = {"type": kind, "resolution": RESOLUTION, "origin": origin,
            "right": [-x for x in left], "up": above, "forward": forward}
    ours["tan_half" if kind == "perspective" else "half_size"] = [width, height]
    return sensor, ours


def scene(name, mesh, view):
    sensor, ours = camera(*view)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mesh.obj")
        with open(path, "w") as file:
            write(mesh, file)
        loaded = mi.load_dict({
            "type": "scene", "sensor": sensor,
            "shape": {"type": "obj", "filename": path, "face_normals": True,
                      "flip_tex_coords": False},
        })
    sensor, points, used = loaded.sensors()[0], [], {}
    draw = random.Random(name)
    while len(points) < 48:
        pixel = [draw.uniform(0, RESOLUTION[0]), draw.uniform(0, RESOLUTION[1])]
        ray, _ = sensor.sample_ray_differential(
            0.0, 0.5, [pixel[0] / RESOLUTION[0], pixel[1] / RESOLUTION[1]], [0.5, 0.5])
        hit = loaded.ray_intersect(ray)
        if not hit.is_valid() or abs(hit.n @ ray.d) < 0.05:
            continue
        hit.compute_uv_partials(ray)
        index = int(hit.prim_index)
        used.setdefault(index, len(used))
        points.append({"pixel": pixel, "triangle": used[index], "uv": list(hit.uv),
                       "duv_dx": list(hit.duv_dx), "duv_dy": list(hit.duv_dy)})
    positions, uvs, triangles = mesh
    corners = [{"v": [positions[i] for i in triangles[t]], "uv": [uvs[i] for i in triangles[t]]}
               for t in used]
    return {"name": name, "camera": ours, "triangles": corners, "points": points}


SCENES = [
    scene("floor", grid(2, 8.0, lambda x, z: 0.0),
          ("perspective", [0.3, 0.4, 1.6], [0.0, 0.0, 0.0], [0, 1, 0], 0.7)),
    scene("terrain", grid(12, 3.0, lambda x, z: 0.3 * math.sin(4 * x) * math.cos(3 * z)),
          ("perspective", [-1.2, 1.5, 1.1], [0.1, 0.0, -0.1], [0.2, 1, 0], 0.5)),
    scene("bowl", grid(10, 1.0, lambda x, z: 0.6 * (x * x + z * z)),
          ("orthographic", [1.0, 2.0, 1.4], [0.0, 0.3, 0.0], [0, 1, 0], 1.1)),
]
json.dump({"mitsuba": mi.__version__, "scenes": SCENES}, sys.stdout, separators=(",", ":"))
