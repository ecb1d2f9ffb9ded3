// The extension's own pages: each has a port for requests to the bridge and for status changes.
import type { Bridge, BridgeState, Stream } from "./bridge.js";
import type { Port } from "./pages.js";
import {
  BridgeError,
  bridgeError,
  type Status,
  type WireError,
} from "./wire.js";

/** From a page of the extension to its background. */
export type OwnPageMessage =
  | { id: number; type: string; fields?: Record<string, unknown> }
  | { id: number; cancel: true }
  | { retry: true };

/** From the background to a page of the extension. */
export type OwnHears =
  | { id: number; result: unknown }
  | { id: number; error: WireError }
  | { id: number; event: unknown }
  | { state: BridgeState }
  | { status: Status };

/** What a page may not ask for: these are the background's own. */
const RESERVED = /^(hello|cancel|page_.*)$/;

/** Serves one page of the extension until it closes; the caller has verified the sender. */
export function serveOwn(port: Port, bridge: Bridge): void {
  const open = new Map<number, Stream>();
  const tell = (message: OwnHears) => port.postMessage(message);
  const unlisten = bridge.listen({
    state: (state) => tell({ state }),
    status: (status) => tell({ status }),
  });
  const release = bridge.hold();
  tell({ state: bridge.state });

  port.onMessage.addListener((message) => {
    const said = message as OwnPageMessage;
    if ("retry" in said) bridge.retry();
    else if ("cancel" in said) open.get(said.id)?.cancel();
    else ask(said);
  });
  port.onDisconnect.addListener(() => {
    unlisten();
    for (const stream of open.values()) stream.cancel();
    open.clear();
    release();
  });

  function ask({
    id,
    type,
    fields = {},
  }: Extract<OwnPageMessage, { type: string }>) {
    if (RESERVED.test(type)) {
      const message = `Unknown message type: ${type}`;
      tell({ id, error: { code: "unknown_type", message } });
      return;
    }
    const isOpen = () => open.get(id) === stream;
    const stream = bridge.stream(type, fields, (event) => {
      if (isOpen()) tell({ id, event });
    });
    open.set(id, stream);
    stream.done.then(
      (result) => {
        if (isOpen()) tell({ id, result });
        open.delete(id);
      },
      (error: unknown) => {
        const known = error instanceof BridgeError ? error : bridgeError(null);
        if (isOpen()) tell({ id, error: known.toJSON() });
        open.delete(id);
      },
    );
  }
}
