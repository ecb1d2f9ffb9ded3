// Requests to the user, and their state.
import { Asks, Http, type AskInfo, type WatchOptions } from "@gangway/client";
import { AsksState, type AsksOptions } from "../src/asks/asks.svelte.js";

export const CALM_MS = 600;
export type What = Pick<AskInfo, "asker" | "request">;

export const SITE: What = {
  asker: { kind: "site", origin: "https://shop.example" },
  request: {
    ...{ type: "permission", scopes: ["chat:open"], waiting: 0 },
    onceOnly: false,
  },
};

export const FORM: What = {
  asker: { kind: "server", id: "files" },
  request: { type: "elicitation", message: "Hm?" },
};

export const message = (sessionId: string): What => ({
  asker: { kind: "applet", slug: "parrot", name: "Parrot" },
  request: { type: "message", sessionId, text: "Pieces\nof eight" },
});

export const ask = (id: string, what = SITE): AskInfo => ({
  ...{ id, ...what, askedAt: "2026-01-01T00:00:00Z" },
});

/** The state over a server that answers every call with a status, and what was sent to it. */
export function made(
  options?: AsksOptions,
  answer: () => Promise<Response> | Response = () =>
    new Response(null, { status: 204 }),
) {
  const watched: { options?: WatchOptions } = {};
  const sent: [string, unknown][] = [];
  const http = new Http({
    fetch: (input, init) => {
      const body = typeof init?.body === "string" ? init.body : "null";
      sent.push([`${init?.method} ${input as string}`, JSON.parse(body)]);
      return Promise.resolve(answer());
    },
  });
  const calls = new Asks(http);
  calls.watch = (options) => {
    watched.options = options;
    return () => undefined;
  };
  const asks = new AsksState(calls, options);
  const fresh: string[] = [];
  asks.follow(({ id }) => fresh.push(id));
  const put = (...all: AskInfo[]) =>
    watched.options?.onFrame({ type: "asks", asks: all });
  return { asks, put, sent, fresh, watched };
}
