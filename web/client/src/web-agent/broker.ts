// The hidden frame of Gangway's origin: takes one port from the parent page and brokers for that page.
import { serve } from "./broker-serve.js";
import { readable } from "./readable.js";
import type { Greeting } from "./wire.js";

/** Waits for the one greeting of the parent page. */
export function startBroker(): void {
  const greet = (event: MessageEvent<Partial<Greeting> | null>) => {
    const { data, ports, source, origin } = event;
    if (window.parent === window || source !== window.parent) return;
    const [port] = ports;
    if (data?.gangway !== "hello" || data.v !== 1) return;
    if (ports.length !== 1 || !port) return;
    if (typeof data.tab !== "string" || !/^[0-9a-f]{32}$/.test(data.tab))
      return;
    window.removeEventListener("message", greet);
    const { tab } = data;
    serve(port, {
      origin,
      connect: () =>
        new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws/web-agent`),
      hello: () => ({
        ...{ type: "hello", v: 1, origin, tab, ancestors: ancestors() },
        ...savedToken(origin),
      }),
      saveToken: (token) => saveToken(origin, token),
      read: (page, done) => done(readable(page)),
    });
  };
  window.addEventListener("message", greet);
}

/** The pages around the page that this frame serves, nearest first: the browser's word, which no page can change. */
function ancestors(): string[] {
  if (window.parent === window.top) return [];
  // Not every browser says who they are.
  if (!("ancestorOrigins" in location)) return ["null"];
  return [...location.ancestorOrigins].slice(1);
}

const TOKEN = "gangway-token:";
/** For browsers that give frames no storage. */
const tokens = new Map<string, string>();

function savedToken(origin: string): { token?: string } {
  let token: string | null | undefined = tokens.get(origin);
  try {
    token ??= localStorage.getItem(TOKEN + origin);
  } catch {
    // Then it lasts as long as the page.
  }
  return token ? { token } : {};
}

function saveToken(origin: string, token: string): void {
  tokens.set(origin, token);
  try {
    localStorage.setItem(TOKEN + origin, token);
  } catch {
    // Then it lasts as long as the page.
  }
}
