// The look that the parent page chose: every value is checked before it is worn.
import type { EmbedStyle } from "@gangway/client";
import { colourOf, css, readableOn, textOn } from "@gangway/kit/chat/dress.js";

// The page's backgrounds, light and dark, for the contrast of text.
const LIGHT = [255, 255, 255] as const;
const DARK = [18, 22, 27] as const;
/** Names, commas and quotes; nothing that loads or computes anything. */
const FONT = /^[\p{L}\p{N} ,'"_.-]{1,200}$/u;
const LENGTH = /^(\d{1,2}(?:\.\d+)?)px$/;

/** What of this can be worn; the rest is left out. */
export function lookOf(style: unknown): EmbedStyle {
  if (typeof style !== "object" || style === null) return {};
  const { theme, accent, font, size, radius } = style as Record<
    string,
    unknown
  >;
  return {
    ...(theme === "light" || theme === "dark" || theme === "auto"
      ? { theme }
      : {}),
    ...(typeof accent === "string" && accent.length <= 100 ? { accent } : {}),
    ...(typeof font === "string" && FONT.test(font) ? { font } : {}),
    ...(between(size, 12, 22) ? { size } : {}),
    ...(between(radius, 0, 24) ? { radius } : {}),
  };
}

export function wear({ theme, accent, font, size, radius }: EmbedStyle): void {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset["theme"];
  else if (theme) root.dataset["theme"] = theme;
  if (font && CSS.supports("font-family", font)) {
    root.style.setProperty("--font", font);
  }
  if (size) root.style.fontSize = size;
  if (radius) {
    root.style.setProperty("--radius", radius);
    root.style.setProperty("--radius-small", radius);
  }
  const colour = accent ? colourOf(accent) : null;
  if (!colour) return;
  const set = {
    "--page-accent": css(colour),
    "--on-page-accent": textOn(colour),
    "--accent-strong": css(colour),
    "--on-accent": textOn(colour),
    // Text and focus rings in this colour are on the page background.
    "--accent": `light-dark(${css(readableOn(colour, LIGHT))}, ${css(readableOn(colour, DARK))})`,
    "--accent-soft": `color-mix(in srgb, ${css(colour)} 14%, var(--bg))`,
  };
  for (const [name, value] of Object.entries(set)) {
    root.style.setProperty(name, value);
  }
}

function between(value: unknown, least: number, most: number): value is string {
  const found = typeof value === "string" ? LENGTH.exec(value)?.[1] : undefined;
  return found !== undefined && +found >= least && +found <= most;
}
