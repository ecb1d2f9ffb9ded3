// The embed as a page: what is there, what is not, and what it says when it cannot be opened.
import type {
  Features,
  FeedFrame,
  FlagsWanted,
  FrameInfo,
} from "@gangway/client";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import EmbedPage from "../src/embed/EmbedPage.svelte";

const AT = "2026-01-02T03:04:05Z";
const OFF: Features = {
  file_upload: false,
  context_usage: false,
  voice_mic: false,
};

let shown: ReturnType<typeof mount> | null = null;
let asked: [string, string][];
let exchange: () => Response | Promise<Response>;
let stream: ReadableStreamDefaultController<Uint8Array> | null;

beforeEach(() => {
  asked = [];
  stream = null;
  exchange = () => Response.json(info());
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe = () => undefined;
      disconnect = () => undefined;
    },
  );
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run));
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    asked.push([path, headers["authorization"] ?? ""]);
    if (path.endsWith("/exchange")) return Promise.resolve(exchange());
    if (!path.endsWith("/events")) return Promise.resolve(Response.json({}));
    const body = new ReadableStream<Uint8Array>({
      start: (control) => void (stream = control),
    });
    return Promise.resolve(new Response(body));
  });
});

afterEach(async () => {
  if (shown) await unmount(shown);
  shown = null;
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

function info(flags: FlagsWanted = {}): FrameInfo {
  return {
    frame_token: "frame",
    agent_id: "a1",
    project_name: "shop",
    persona_slug: "kind",
    state: "idle",
    feature_flags: { ...OFF, ...flags },
    upload: { max_bytes: 1_000, types: ["text/*"] },
    speech: false,
    parents: [],
  };
}

function show(token: string | null = "T"): void {
  const address = {
    agentId: "a1",
    token,
    parent: null,
    style: {},
    features: {},
  };
  shown = mount(EmbedPage, { target: document.body, props: { address } });
  flushSync();
}

function say(...frames: object[]): void {
  for (const frame of frames) {
    const text = `data: ${JSON.stringify(frame)}\n\n`;
    stream?.enqueue(new TextEncoder().encode(text));
  }
}

function snapshot(
  context: { used: number; window: number | null } | null,
): FeedFrame {
  const session = {
    ...{ sessionId: "s1", title: null, cwd: "/tmp", model: null },
    ...{ agent: "remote", createdAt: AT, updatedAt: AT },
    state: "idle" as const,
  };
  return {
    type: "snapshot",
    snapshot: {
      ...{ session, seq: 0, entries: [], older: false },
      ...{ running: null, queued: [], context },
    },
  };
}

const text = () => document.body.textContent;
const has = (selector: string) => document.querySelector(selector) !== null;

async function opened(): Promise<void> {
  await vi.waitFor(() => expect(stream).not.toBeNull());
  say(
    { type: "agent.state", state: "idle" },
    snapshot({ used: 900, window: 1000 }),
  );
  await vi.waitFor(() => expect(text()).toContain("No messages yet."));
}

test("with every feature off there is none of them in the page, and no way elsewhere", async () => {
  show();
  await opened();
  expect(has("textarea")).toBe(true);
  expect(has("input[type=file]")).toBe(false);
  expect(has("[role=meter]")).toBe(false);
  expect(has("[aria-label='Record a message']")).toBe(false);
  expect(has("[aria-label='Dictate']")).toBe(false);
  expect(has("a, nav, header")).toBe(false);
  expect(asked).toEqual([
    ["/api/remote_agents/a1/exchange", "Bearer T"],
    ["/api/remote_agents/a1/events", "Bearer frame"],
  ]);
});

test.each([
  ["file_upload", "input[type=file]"],
  ["context_usage", "[role=meter]"],
  ["voice_mic", "[aria-label='Record a message']"],
] as const)("%s alone brings its own control alone", async (name, control) => {
  exchange = () => Response.json(info({ [name]: true }));
  show();
  await opened();
  const all = [
    "input[type=file]",
    "[role=meter]",
    "[aria-label='Record a message']",
  ];
  expect(all.filter(has)).toEqual([control]);
});

test("the meter is updated, and without a known window size it shows only the number", async () => {
  exchange = () => Response.json(info({ context_usage: true }));
  show();
  await opened();
  const meter = document.querySelector("[role=meter]");
  expect(meter?.getAttribute("aria-valuenow")).toBe("900");
  expect(meter?.getAttribute("aria-valuemax")).toBe("1000");
  say({
    ...{ type: "session.context", seq: 1, at: AT, streamId: "t1" },
    ...{ used: 12_345, window: null },
  });
  await vi.waitFor(() => expect(text()).toContain("12.3k tokens used"));
  expect(has("[role=meter]")).toBe(false);
});

test("a reload continues with the token of the frame", async () => {
  show();
  await opened();
  if (shown) await unmount(shown);
  asked = [];
  stream = null;
  show(null);
  await opened();
  expect(asked).toEqual([["/api/remote_agents/a1/events", "Bearer frame"]]);
});

test("an agent that ended keeps what was said and takes nothing more", async () => {
  show();
  await opened();
  say({ type: "agent.ended", reason: "nobody talked to it" });
  await vi.waitFor(() => expect(has("textarea")).toBe(false));
  expect(text()).toContain("This chat has ended: nobody talked to it.");
  expect(document.querySelector("[role=status]")?.textContent).toBe("Ended");
});

test("a missing token is reported", async () => {
  show(null);
  await vi.waitFor(() => expect(text()).toContain("Incomplete chat URL"));
  expect(asked).toEqual([]);
});

test.each([
  [401, "invalid_token", "no longer valid"],
  [404, "agent_not_found", "no longer exists"],
  [409, "agent_ended", "This chat has ended"],
  [400, "invalid_feature_flags", "Flags are true or false."],
])("%i %s says what to do", async (status, error_code, words) => {
  const message = "Flags are true or false.";
  exchange = () =>
    Response.json(
      { status, error_code, message, retryable: false },
      { status },
    );
  show();
  await vi.waitFor(() => expect(text()).toContain(words));
  expect(has("textarea")).toBe(false);
});

test("a server that is away is asked again until it is back", async () => {
  let away = true;
  exchange = () => {
    if (away) return Promise.reject(new TypeError("connection refused"));
    return Response.json(info());
  };
  show();
  await vi.waitFor(() => expect(text()).toContain("Server unreachable"));
  away = false;
  document.querySelector("button")?.click();
  await opened();
  expect(has("textarea")).toBe(true);
});
