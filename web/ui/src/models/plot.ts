// A line over the last minute as paths for an SVG.
import { SPAN_SECONDS, type Sample } from "./activity.svelte.js";

export const WIDTH = 120;
export const HEIGHT = 32;

export interface Plot {
  line: string;
  /** The same, closed along the bottom. */
  area: string;
}

/** Now is at the right; `top` is the value at the upper edge. */
export function plot(samples: readonly Sample[], top: number): Plot | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < 2) return null;
  const line = samples
    .map(({ age, value }, index) => {
      const y = HEIGHT - (Math.min(value, top) / Math.max(top, 1)) * HEIGHT;
      return `${index === 0 ? "M" : "L"}${round(x(age))} ${round(y)}`;
    })
    .join("");
  const ends = `L${round(x(last.age))} ${HEIGHT}L${round(x(first.age))} ${HEIGHT}Z`;
  return { line, area: line + ends };
}

function x(age: number): number {
  return WIDTH - (age / (SPAN_SECONDS - 1)) * WIDTH;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
