// Numbers as people read them.

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** Powers of a thousand, as disks and downloads are sold. */
export function bytes(amount: number): string {
  let [value, unit] = [amount, 0];
  // What would round to a thousand is one of the next.
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}

/** Whole percents; all of it only when nothing is missing. */
export function percent(part: number, whole: number): number {
  if (whole <= 0) return 0;
  return Math.max(0, Math.min(100, Math.floor((part / whole) * 100)));
}

export function seconds(ms: number): string {
  const value = ms / 1000;
  return `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)} s`;
}

/** Tokens a second, with a decimal only where it matters. */
export function rate(value: number): string {
  return value.toFixed(value > 0 && value < 10 ? 1 : 0);
}

/** Tokens: 850, 12.3k, 1.2M. */
export function tokens(amount: number): string {
  if (amount < 1000) return String(amount);
  const [value, unit] =
    amount < 999_500 ? [amount / 1e3, "k"] : [amount / 1e6, "M"];
  return `${value.toFixed(value < 99.5 ? 1 : 0).replace(/\.0$/, "")}${unit}`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
