// The look that a page chose for its panel.
import type { PanelStyle } from "@gangway/client";

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** A theme or a colour that is none is left out. */
export function dress({ theme, accentColor }: PanelStyle): void {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  const colour = accentColor ? colourOf(accentColor) : null;
  if (!colour) return;
  root.style.setProperty("--page-accent", css(colour));
  root.style.setProperty("--on-page-accent", textOn(colour));
}

/** Black or white, whichever reads better; one of them always has a contrast of 4.5 or more. */
export function textOn(colour: Colour): "#000" | "#fff" {
  const light = luminance(colour);
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000" : "#fff";
}

/** The colour, or the nearest to it on the way to black or white that can be read on a background. */
export function readableOn(colour: Colour, background: Colour): Colour {
  const end = luminance(background) > 0.18 ? 0 : 255;
  for (let part = 0; part < 1; part += 0.05) {
    const [red, green, blue] = colour;
    const mix = (value: number) => Math.round(value + (end - value) * part);
    const mixed: Colour = [mix(red), mix(green), mix(blue)];
    if (contrast(mixed, background) >= READABLE) return mixed;
  }
  return [end, end, end];
}

/** The contrast of WCAG, from 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

export function css(colour: Colour): string {
  return `rgb(${colour.join(" ")})`;
}

/** The contrast that WCAG requires for text. */
const READABLE = 4.5;

/** The relative luminance of WCAG. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** What the browser paints for a colour, on white where it lets something through. */
export function colourOf(words: string): Colour | null {
  if (!CSS.supports("color", words)) return null;
  const paint = document.createElement("canvas").getContext("2d");
  if (!paint) return null;
  paint.fillStyle = "#fff";
  paint.fillRect(0, 0, 1, 1);
  // Keywords such as `inherit` are valid colours only in CSS, and ignored here.
  paint.fillStyle = NONE;
  paint.fillStyle = words;
  if (paint.fillStyle === NONE) return null;
  paint.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = paint.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** A colour that no page asks for. */
const NONE = "#010203";
