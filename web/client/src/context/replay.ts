// What a page in a replay gets beside its messages: the states that it reported when it was recorded.
import type { PageServerMessage } from "../generated/wire.js";
import type { Builtins } from "./builtins.js";
import type { AppReplay } from "./context.js";

/** From the replay; the first one comes before everything else, so that the page can say that it shows states. */
export interface ReplayState {
  type: "replay-state";
  /** Null where it has not reported any yet. */
  state: unknown;
}

/** To the replay: the page shows states. */
export interface ReplayShown {
  type: "replay-shown";
}

export interface PageReplay extends AppReplay {
  /** Takes a message; false if it is for the channel. */
  receive(text: unknown): boolean;
}

export function makeReplay(
  built: Builtins,
  send: (text: string) => void,
): PageReplay {
  let handler: ((state: unknown) => void) | undefined;
  let last: ReplayState | undefined;
  const show = () => {
    if (!handler || !last) return;
    send(built.stringify({ type: "replay-shown" } satisfies ReplayShown));
    handler(last.state);
  };
  return {
    onState(next) {
      handler = next;
      show();
    },
    receive(text) {
      // Any JSON has a type to look at, but for null.
      const frame = (built.parse(text as string) ?? {}) as
        PageServerMessage | ReplayState;
      if (frame.type !== "replay-state") return false;
      last = frame;
      show();
      return true;
    },
  };
}
