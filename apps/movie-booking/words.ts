// Formats amounts and days.

export function money(cents: number): string {
  return new Intl.NumberFormat("en", {
    style: "currency",
    currency: "EUR",
  }).format(cents / 100);
}

export function seatWords(count: number): string {
  return count === 1 ? "1 seat" : `${count} seats`;
}

/** A day such as 2026-11-15, in any time zone. */
export function dayWords(date: string): {
  label: string;
  long: string;
  weekday: string;
  day: number;
  month: string;
} {
  const at = new Date(`${date}T12:00:00Z`);
  const part = (options: Intl.DateTimeFormatOptions) =>
    at.toLocaleDateString("en-GB", { timeZone: "UTC", ...options });
  return {
    label: part({ weekday: "short", day: "numeric", month: "short" }).replace(
      ",",
      "",
    ),
    long: part({ weekday: "long", day: "numeric", month: "long" }),
    weekday: part({ weekday: "long" }),
    day: at.getUTCDate(),
    month: part({ month: "long", year: "numeric" }),
  };
}

export function runningTime(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return hours === 0
    ? `${rest}\u00a0min`
    : `${hours}\u00a0h\u00a0${rest}\u00a0min`;
}
