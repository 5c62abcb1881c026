"""The seven identity colours can be told apart, also by the colour-blind: each pair keeps a distance."""

import re
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from pathlib import Path

import pytest

TOKENS = Path(__file__).resolve().parents[2] / "static/css/tokens.css"
Rgb = tuple[float, float, float]
Matrix = tuple[Rgb, Rgb, Rgb]
# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear sRGB.
BLIND: dict[str, Matrix] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
SEEN: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE: Rgb = (0.95047, 1.0, 1.08883)


def times(matrix: Matrix, vector: Rgb) -> Rgb:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three


def linear(color: str) -> Rgb:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return red, green, blue


def lab(color: str, seen: Matrix) -> Rgb:
    """CIELAB of a colour as somebody with these eyes sees it."""
    shown = times(seen, linear(color))
    clipped = (min(max(shown[0], 0), 1), min(max(shown[1], 0), 1), min(max(shown[2], 0), 1))
    x, y, z = (
        part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116
        for part in (value / white for value, white in zip(times(XYZ, clipped), WHITE, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: Rgb, other: Rgb) -> float:
    """The difference of two colours in CIELAB, of which about 2 is just seen.

    >>> round(ciede2000((50, 2.6772, -79.7751), (50, 0, -82.7485)), 4)
    2.0425
    """
    (l1, a1, b1), (l2, a2, b2) = one, other
    c7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    grey = (1 - sqrt(c7 / (c7 + 25**7))) / 2
    a1, a2 = a1 * (1 + grey), a2 * (1 + grey)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dl, dc, dh = l2 - l1, c2 - c1, 2 * sqrt(c1 * c2) * sin(radians(turn) / 2)
    middle, c, h = (l1 + l2) / 2, (c1 + c2) / 2, h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
        + 0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63))
    )  # fmt: skip
    sl, sc, sh = (
        1 + 0.015 * (middle - 50) ** 2 / sqrt(20 + (middle - 50) ** 2),
        1 + 0.045 * c,
        1 + 0.015 * c * t,
    )
    rt = -2 * sqrt(c**7 / (c**7 + 25**7)) * sin(radians(60 * exp(-(((h - 275) / 25) ** 2))))
    return sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh))


def identity() -> dict[str, str]:
    return dict(re.findall(r"--(id-[1-7]): (#[0-9A-F]{6})", TOKENS.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_is_that_of_the_published_pairs(one: Rgb, other: Rgb, distance: float) -> None:
    """Sharma, Wu and Dalal 2005, table 1."""
    assert round(ciede2000(one, other), 4) == distance
    assert round(ciede2000(other, one), 4) == distance


@pytest.mark.parametrize(
    ("eyes", "least"), [("all", 20), ("protanopia", 10), ("deuteranopia", 10), ("tritanopia", 10)]
)
def test_every_pair_of_identity_colours_keeps_its_distance(eyes: str, least: float) -> None:
    colors, seen = identity(), BLIND.get(eyes, SEEN)
    assert len(colors) == 7
    found = {
        (one, other): ciede2000(lab(colors[one], seen), lab(colors[other], seen))
        for one, other in combinations(colors, 2)
    }
    near = {pair: round(distance, 1) for pair, distance in found.items() if distance < least}
    assert near == {}, sorted(found.values())[:3]
