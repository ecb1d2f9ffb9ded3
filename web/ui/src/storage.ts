// Small values kept in this browser; a browser that forbids storage keeps none.

export function read(key: string): string | null {
  try {
    return localStorage.getItem(`gangway.${key}`);
  } catch {
    return null;
  }
}

/** Keeps a value; an empty one is removed. */
export function write(key: string, value: string): void {
  try {
    if (value) localStorage.setItem(`gangway.${key}`, value);
    else localStorage.removeItem(`gangway.${key}`);
  } catch {
    // Full or forbidden: the value lives as long as the page.
  }
}
