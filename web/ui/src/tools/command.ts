// Splits a command line into arguments.

export type Split = { words: string[] } | { mistake: string };

const QUOTES = ['"', "'"];

/**
 * Words are parted by spaces; quotes keep them together. A backslash keeps what follows only where that would mean
 * something, so that `C:\tools` stays what it is.
 */
export function splitCommand(line: string): Split {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (char === "\\" && keeps(next, quote)) {
      at += 1;
      // A continued line is one line.
      if (next !== "\n") word = (word ?? "") + next;
    } else if (quote) {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (QUOTES.includes(char)) {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + char;
  }
  if (quote) return { mistake: `A closing ${quote} is missing.` };
  if (word !== null) words.push(word);
  return { words };
}

function keeps(next: string, quote: string): boolean {
  if (quote === "'") return false;
  if (quote === '"') return next === '"' || next === "\\";
  return /^[\s"'\\]$/.test(next);
}

/** The arguments as a line that `splitCommand` can split. */
export function joinCommand(words: readonly string[]): string {
  return words
    .map((word) =>
      /^[\w@%+=:,./~-]+$/.test(word)
        ? word
        : `"${word.replaceAll(/["\\]/g, "\\$&")}"`,
    )
    .join(" ");
}
