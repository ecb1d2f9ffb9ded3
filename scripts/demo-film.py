#!/usr/bin/env python3
"""Joins the screenshots of a folder, sorted by name, to an animated PNG with one palette."""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZE = (960, 600)
CAPTION = 44
MILLISECONDS = 3200
COLORS = 80
# The most frequent colors are exact; the others cover the rest, so that small buttons and icons keep theirs.
EXACT = 16
MOST_BYTES = 295_000

CAPTIONS = {
    "01-home": "One button, or `gangway demo`. No model is needed.",
    "02-approval": "The agent of the chat wants to use the page: you decide.",
    "03-agents": "An MCP client, an external agent and a scripted one work on the same page.",
    "04-consent": "The page asks to save a file: you decide.",
    "05-file": "An applet beside the chat shows the file at once.",
    "06-site": "A site on another origin would like to read the list.",
    "07-permission": "It asks for exactly one tool: you decide.",
    "08-result": "The site has the result, by its grant.",
    "09-done": "All of it is one log, which can be replayed.",
}


def frame(file: Path, font: ImageFont.FreeTypeFont) -> Image.Image:
    shot = Image.open(file).convert("RGB")
    shot.thumbnail((SIZE[0], SIZE[1]), Image.Resampling.LANCZOS)
    picture = Image.new("RGB", (SIZE[0], SIZE[1] + CAPTION), "#e9eef3")
    picture.paste(shot, ((SIZE[0] - shot.width) // 2, (SIZE[1] - shot.height) // 2))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, SIZE[1], SIZE[0], SIZE[1] + CAPTION), fill="#17212b")
    middle = (SIZE[0] // 2, SIZE[1] + CAPTION // 2)
    draw.text(middle, CAPTIONS[file.stem], fill="#ffffff", font=font, anchor="mm")
    return picture


def palette_of(frames: list[Image.Image]) -> Image.Image:
    """One palette for all frames, or colors would flicker."""
    strip = Image.new("RGB", (SIZE[0], frames[0].height * len(frames)))
    for n, picture in enumerate(frames):
        strip.paste(picture, (0, n * picture.height))
    counts = sorted(strip.getcolors(strip.width * strip.height), reverse=True)
    exact = [value for _, color in counts[:EXACT] for value in color]
    others = strip.quantize(COLORS - EXACT, method=Image.Quantize.MAXCOVERAGE)
    palette = Image.new("P", (1, 1))
    palette.putpalette(exact + others.getpalette()[: 3 * (COLORS - EXACT)])
    return palette


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    files = sorted(folder.glob("*.png"))
    if [file.stem for file in files] != sorted(CAPTIONS):
        sys.exit(f"{folder} must have exactly these screenshots: {', '.join(CAPTIONS)}")
    font = ImageFont.load_default(size=20)
    frames = [frame(file, font) for file in files]
    palette = palette_of(frames)
    frames = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in frames
    ]
    frames[0].save(
        out,
        save_all=True,
        append_images=frames[1:],
        duration=MILLISECONDS,
        loop=0,
        optimize=True,
    )
    size = out.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{out} has {size} bytes, more than {MOST_BYTES}")
    print(f"{out}: {len(frames)} frames, {size} bytes")


if __name__ == "__main__":
    main()
