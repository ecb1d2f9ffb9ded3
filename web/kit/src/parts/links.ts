// URLs from other parties.

/** The address, when it is one that a browser only visits: nothing that runs or reads files. */
export function visitable(text: string | undefined): URL | null {
  const url = text === undefined ? null : URL.parse(text);
  return url && ["http:", "https:"].includes(url.protocol) ? url : null;
}
