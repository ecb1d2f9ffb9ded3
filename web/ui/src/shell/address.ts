// Where the pages are, and which one an address means.

/** The pages beside the chat, and where they are. */
export const PATHS = {
  applets: "/applets",
  agents: "/agents",
  models: "/models",
  tools: "/tools",
  permissions: "/permissions",
} as const;
export type SidePage = keyof typeof PATHS;
export type Page = "chat" | SidePage;

/** The code that `gangway open` put into the address, which forgets it. */
export function takeCode(): string | null {
  const code = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code ?? null;
}

export function sessionInPath(): string | null {
  const found = /^\/sessions\/([^/]+)\/?$/.exec(location.pathname);
  // Ids need no decoding; whatever else is written here, the server says that it is not there.
  return found?.[1] ?? null;
}

export function pageInPath(): Page {
  const path = location.pathname.replace(/\/$/, "");
  const pages = Object.keys(PATHS) as SidePage[];
  return pages.find((page) => PATHS[page] === path) ?? "chat";
}

export function push(path: string): void {
  if (path !== location.pathname + location.search) {
    history.pushState(null, "", path);
  }
}

/** Where a session is replayed, from an event of it on. */
export function replayOf(sessionId: string, seq?: number): string {
  const path = `/replay/${encodeURIComponent(sessionId)}`;
  return seq === undefined ? path : `${path}?at=${seq}`;
}

export function pathOf(
  sessionId: string | null,
  beside: Record<string, string | null> = {},
): string {
  const path = sessionId ? `/sessions/${encodeURIComponent(sessionId)}` : "/";
  const given = Object.entries(beside).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const query = new URLSearchParams(given).toString();
  return query === "" ? path : `${path}?${query}`;
}
