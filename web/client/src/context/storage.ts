// Storage for a page whose browser gives it none, as where third-party storage is blocked: kept by the server, for the app.
import type { Builtins } from "./builtins.js";

// As much as browsers give.
const MOST = 5 << 20;
const WAIT_MS = 50;

type Kept = Record<string, string>;

/** Replaces the storage objects that throw; `url` is where the app's storage is kept, if it outlasts the page. */
export function lendStorage(built: Builtins, url: string | null): void {
  for (const name of ["localStorage", "sessionStorage"] as const) {
    try {
      if (window[name].length >= 0) continue;
    } catch {
      const lasting = name === "localStorage";
      const value = makeStorage(built, lasting ? url : null);
      built.defineProperty(window, name, { value, configurable: true });
    }
  }
}

function makeStorage(built: Builtins, url: string | null): Storage {
  const kept = built.create(null) as Kept;
  let size = 0;
  let changes: Record<string, string | null> | null = null;
  if (url !== null) {
    const asked = new XMLHttpRequest();
    // The first script of the page may read it, so there is nothing to wait with.
    asked.open("GET", url, false);
    asked.send();
    if (asked.status === 200) {
      const found = built.parse(asked.responseText) as Kept;
      for (const key in found) set(key, found[key] as string);
    }
    built.listen(window, "pagehide", flush);
  }

  function set(key: string, value: string | null): void {
    const now = value === null ? 0 : key.length + value.length;
    const old = kept[key];
    const next = size + now - (old === undefined ? 0 : key.length + old.length);
    if (next > MOST) {
      throw new DOMException("The storage is full.", "QuotaExceededError");
    }
    size = next;
    if (value !== null) kept[key] = value;
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are the app's
    else delete kept[key];
  }

  function change(key: string, value: string | null): void {
    set(key, value);
    if (url === null) return;
    if (!changes) {
      changes = built.create(null) as Record<string, string | null>;
      built.setTimeout(flush, WAIT_MS);
    }
    changes[key] = value;
  }

  function flush(): void {
    if (!changes || url === null) return;
    const body = built.stringify(changes);
    changes = null;
    const headers = { "content-type": "application/json" };
    // A page that goes away has its last changes kept, where they are small enough for browsers.
    const keepalive = body.length < 60_000;
    fetch(url, { method: "POST", body, headers, keepalive }).catch(
      () => undefined,
    );
  }

  const methods = {
    getItem: (key: unknown) => kept[String(key)] ?? null,
    setItem: (key: unknown, value: unknown) =>
      change(String(key), String(value)),
    removeItem: (key: unknown) => change(String(key), null),
    key: (at: number) => Object.keys(kept)[at] ?? null,
    clear: () => {
      for (const key in kept) change(key, null);
    },
  };
  return new Proxy(methods as unknown as Storage, {
    get: (_, key) =>
      key === "length"
        ? Object.keys(kept).length
        : typeof key === "symbol"
          ? undefined
          : Object.hasOwn(methods, key)
            ? methods[key as keyof typeof methods]
            : kept[key],
    set: (_, key, value) => (change(String(key), String(value)), true),
    has: (_, key) => key in kept || key in methods,
    deleteProperty: (_, key) => (change(String(key), null), true),
    ownKeys: () => Object.keys(kept),
    getOwnPropertyDescriptor: (_, key) =>
      typeof key === "string" && key in kept
        ? {
            ...{ value: kept[key], writable: true },
            ...{ enumerable: true, configurable: true },
          }
        : undefined,
  });
}
