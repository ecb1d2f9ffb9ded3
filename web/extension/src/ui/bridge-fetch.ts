// A fetch for our library that goes by way of the bridge.
import { Backoff } from "@gangway/client/extension";
import { isUnreached } from "../failures.js";
import { BridgeError } from "../wire.js";
import type { BackgroundPort } from "./background-port.js";
import { messageFor, type Message } from "./routes.js";

// With the delays between them, about as long as a visit can be resumed.
const ATTEMPTS = 8;

export function bridgeFetch(port: BackgroundPort): typeof fetch {
  return async (input, init = {}) => {
    const method = init.method ?? "GET";
    const body =
      typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : null;
    const message = messageFor(method, addressOf(input), body);
    if (!message) return refused({ code: "unknown_type" }, 404);
    const again = method === "GET" || "idempotency_key" in message.fields;
    try {
      const result = await ask(port, message, again, init.signal);
      if (result === null) return new Response(null, { status: 204 });
      return Response.json(result);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      if (isUnreached(error)) throw error;
      return refused(error, error.status ?? 502);
    }
  };
}

/** What was lost on the way is sent again, where that takes effect no more than once. */
async function ask(
  port: BackgroundPort,
  { type, fields }: Message,
  again: boolean,
  signal: AbortSignal | null | undefined,
): Promise<unknown> {
  const backoff = new Backoff();
  for (let left = again ? ATTEMPTS : 1; ; left -= 1) {
    try {
      return await port.request(type, fields, signal);
    } catch (error) {
      const { code } = error as Partial<BridgeError>;
      if (left === 1 || code !== "bridge_lost" || signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoff.next()));
    }
  }
}

function addressOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}

function refused(
  error: { code: string } & Partial<BridgeError>,
  status: number,
): Response {
  const { code, message = "Not supported in the extension.", details } = error;
  const { retryable = false } = error;
  const body = { error_code: code, message, retryable, details };
  return Response.json(body, { status });
}
