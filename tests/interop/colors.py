"""The texts by which Perfetto's viewer shows colours: it makes a colour of a hash of an event's correlation ID."""
import functools
import math

TO_RGB = [[3.240969941904521, -1.537383177570093, -0.498610760293], [-0.96924363628087, 1.87596750150772, 0.041555057407175], [0.055630079696993, -0.20397695888897, 1.056971514242878]]
FROM_RGB = [[0.41239079926595, 0.35758433938387, 0.18048078840183], [0.21263900587151, 0.71516867876775, 0.072192315360733], [0.019330818715591, 0.11919477979462, 0.95053215224966]]
WHITE = 0.19783000664283, 0.46831999493879
KAPPA, EPSILON = 24389 / 27, 216 / 24389


def hashed(text, count):
    value = 18652613
    for character in text:
        value = (int(16777619.0 * float(value ^ ord(character))) + 2**31) % 2**32 - 2**31
    return abs(value) % count


@functools.cache
def shown(hue, lightness):
    """The colour of this hue and lightness, in CIELUV: its saturation is 80 in HSLuv."""
    cube = (lightness + 16) ** 3 / 1560896
    scaled = cube if cube > EPSILON else lightness / KAPPA
    angle, chroma = math.radians(hue), math.inf
    for x, y, z in TO_RGB:
        for channel in (0, 1):
            divisor = (632260 * z - 126452 * y) * scaled + 126452 * channel
            slope = (284517 * x - 94839 * z) * scaled / divisor
            offset = ((838422 * z + 769860 * y + 731718 * x) * lightness * scaled - 769860 * channel * lightness) / divisor
            length = offset / (math.sin(angle) - slope * math.cos(angle))
            chroma = min(chroma, length) if length >= 0 else chroma
    chroma *= 0.8
    return lightness, chroma * math.cos(angle), chroma * math.sin(angle)


def luv(color):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (byte / 255 for byte in (color >> 16 & 255, color >> 8 & 255, color & 255))]
    x, y, z = (sum(a * b for a, b in zip(row, linear)) for row in FROM_RGB)
    lightness = 116 * y ** (1 / 3) - 16 if y > EPSILON else y * KAPPA
    total = x + 15 * y + 3 * z or 1
    return lightness, 13 * lightness * (4 * x / total - WHITE[0]), 13 * lightness * (9 * y / total - WHITE[1])


@functools.cache
def text(color):
    """The text of `0xAARRGGBB` that is shown in the nearest colour; None for what is nearly grey."""
    wanted = luv(color)
    if math.hypot(*wanted[1:]) < 20:
        return None
    texts = [f"#{color:08X}"] + [f"#{color:08X} {number}" for number in range(1, 501)]
    return min(texts, key=lambda text: math.dist(wanted, shown(hashed(text, 360), 40 + hashed(text + "x", 40))))
