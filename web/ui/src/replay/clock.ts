// Times as people read them.

/** Minutes and seconds since the beginning. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The same to the millisecond, with hours where there are some. */
export function fineClock(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [
    Math.floor(whole / 3_600_000),
    Math.floor(whole / 60_000) % 60,
  ];
  const seconds = `${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, "0")}`;
  return hours > 0
    ? `${hours}:${two(minutes)}:${seconds}`
    : `${minutes}:${seconds}`;
}

/** How long something took. */
export function lasted(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${clock(ms)} min`;
}
