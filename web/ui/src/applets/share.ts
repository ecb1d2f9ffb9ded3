// How the width is shared between an applet and the chat, in percent of the applet.

/** Neither side is narrower than this many pixels, where there is room for both. */
const LEAST_PX = 300;

export const HALF = 50;

export interface Bounds {
  least: number;
  most: number;
}

export function boundsOf(width: number): Bounds {
  // Without room for both, or before anything is measured, it is half and half.
  const least = width > 0 ? Math.min(HALF, (LEAST_PX / width) * 100) : 20;
  return { least: Math.ceil(least), most: Math.floor(100 - least) };
}

export function within(share: number, { least, most }: Bounds): number {
  return Math.min(most, Math.max(least, share));
}

const STEP = 2;
const LEAP = 10;

/** Where a key moves the divider; null for keys that are not for it. */
export function moved(
  share: number,
  { key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">,
  bounds: Bounds,
): number | null {
  const step = shiftKey ? LEAP : STEP;
  switch (key) {
    case "ArrowLeft":
      return within(share - step, bounds);
    case "ArrowRight":
      return within(share + step, bounds);
    case "Home":
      return bounds.least;
    case "End":
      return bounds.most;
    case "Enter":
      return within(HALF, bounds);
    default:
      return null;
  }
}
