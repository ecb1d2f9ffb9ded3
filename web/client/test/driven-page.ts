// A page that is driven, with the test in place of the relay. Time is moved, not waited for.
import { afterEach, beforeEach, vi } from "vitest";
import {
  createHost,
  tool,
  ToolError,
  type Host,
  type HostOptions,
  type Snapshot,
} from "../src/host/index.js";
import { RelaySocket } from "./relay-socket.js";

/** The page of the test that runs. */
export const page: { host: Host; shown: Snapshot; count: number } = {
  host: null as unknown as Host,
  shown: { uiSpec: null },
  count: 0,
};

export const tools = {
  add: tool({
    description: "Adds to the count.",
    parameters: {
      by: { type: "integer", description: "How many.", minimum: 1 },
      how: { type: "string", enum: ["fast", "slow"], optional: true },
    },
    run({ by }) {
      page.count += by;
      return page.count;
    },
  }),
  fail: tool({
    description: "Fails.",
    parameters: {},
    run() {
      throw new Error("out of order");
    },
  }),
  refuse: tool({
    description: "Says that it was asked for the wrong thing.",
    parameters: {},
    run() {
      throw new ToolError("INVALID_PARAMS", "not that one");
    },
  }),
  hang: tool({
    description: "Never ends.",
    parameters: {},
    run: () => new Promise(() => undefined),
  }),
};

export function start(more: Partial<HostOptions> = {}): RelaySocket {
  page.host = createHost({
    session: "box",
    url: "http://host:1",
    tools,
    snapshot: () => page.shown,
    WebSocket: RelaySocket as unknown as typeof WebSocket,
    random: () => 1,
    ...more,
  });
  return RelaySocket.last();
}

export const settle = () => vi.advanceTimersByTimeAsync(0);

/** Gives each test of a file a page of its own. */
export function freshPage(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    RelaySocket.all = [];
    page.count = 0;
    page.shown = {
      get uiSpec() {
        return { stage: "one", count: page.count };
      },
      messageHistory: [],
    };
  });

  afterEach(() => {
    page.host.close();
    vi.useRealTimers();
  });
}
