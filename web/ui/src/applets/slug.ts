// The names of applets, and where they stand in addresses.

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** The name of an applet, when it can be one at all. */
export function slugOf(text: string | null): string | null {
  return text !== null && SLUG.test(text) ? text : null;
}

/** The applet that a query asks for, right or wrong. */
export function appletIn(query: string): string | null {
  return new URLSearchParams(query).get("applet") || null;
}

/** The applet that a link opens beside the chat it stands in. */
export function appletOfLink(href: string, origin: string): string | null {
  const url = URL.parse(href, origin);
  if (url?.origin !== origin || url.pathname !== "/" || url.hash) return null;
  return slugOf(url.searchParams.get("applet"));
}
