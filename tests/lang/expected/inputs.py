"""What a host sets."""

from vectors import cross, dot, scale, sub


def hit(uvw, normal, I, tangent):
    return {
        "uv": (4 * uvw[0], 4 * uvw[1]),
        "facing": -dot(normal, I),
        "reflected": sub(I, scale(2 * dot(normal, I), normal)),
        "bitangent": cross(normal, tangent),
    }
