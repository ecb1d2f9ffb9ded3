// The key that requests and sockets are sent with.

/** A key, or how to get the one of the moment. */
export type ApiKey = string | (() => string | undefined);

export function keyNow(key: ApiKey | undefined): string | undefined {
  return typeof key === "function" ? key() : key;
}

/** Subprotocols to offer: the only place where a page can put a socket's key. */
export function protocolsFor(key: ApiKey | undefined): string[] | undefined {
  const now = keyNow(key);
  return now ? ["gangway", `gangway.key.${now}`] : undefined;
}
