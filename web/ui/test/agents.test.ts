// What the Agents page says, and what it makes.
import { Http, RemoteAgents, type RemoteAgentInfo } from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  detailOf,
  featuresOf,
  snippetOf,
  stateOf,
} from "../src/agents/words.js";
import { NotifyState } from "../src/shell/notify.svelte.js";
import { RemoteAgentsState } from "../src/agents/remote-agents.svelte.js";

const agent: RemoteAgentInfo = {
  agent_id: "a1",
  project_name: "shop",
  persona_slug: "kind",
  tmux_session_name: "shop-a1",
  attach_command: "tmux attach -t shop-a1",
  backend: "builtin",
  alive: true,
  state: "processing",
  attached: true,
  can_hand_over: true,
  session_id: "s1",
  feature_flags: { file_upload: true, context_usage: false, voice_mic: true },
  created_at: "2026-01-02T03:04:05Z",
  last_active_at: "2026-01-02T03:04:05Z",
  ended_at: null,
  ended_reason: null,
};

test("an agent is described by its state, while that is known", () => {
  expect(stateOf(agent)).toBe("Working…");
  expect(stateOf({ ...agent, attached: false })).toBe("Not connected");
  expect(stateOf({ ...agent, alive: false })).toBe("Ended");
  expect(featuresOf(agent.feature_flags)).toBe("Files, Microphone");
});

test("an agent that ended says when and why", () => {
  const ended_at = "2026-01-03T03:04:05Z";
  const over = { ...agent, alive: false, ended_at };
  expect(detailOf({ ...over, ended_reason: "tmux died" })).toMatch(
    /: tmux died$/,
  );
  expect(detailOf(over)).not.toMatch(/null|:\s*$/);
});

test("the snippet is for the server it came from, and nothing in it can end it early", () => {
  const created = {
    ...{ agent_id: "a1", session_token: "T", project_name: "shop" },
    ...{ persona_slug: "kind", tmux_session_name: "x", session_id: "s1" },
    status: "ready" as const,
    feature_flags: agent.feature_flags,
    embed_url: `https://agents.example/embed/a1?token=T"</script>`,
  };
  const snippet = snippetOf(created);
  expect(snippet).toContain(`<script src="https://agents.example/embed.js">`);
  expect(snippet.match(/<\/script>/g)).toHaveLength(2);
  const page = document.implementation.createHTMLDocument();
  page.body.innerHTML = snippet;
  expect(page.querySelectorAll("script")).toHaveLength(2);
  const code = page.querySelectorAll("script")[1]?.textContent ?? "";
  expect(code).toContain(String.raw`token=T\"\u003c/script>"`);
});

let keys: string[];
let fails: boolean;
let refuses: boolean;
let calls: string[];
let agents: RemoteAgentInfo[];

beforeEach(() => {
  keys = [];
  agents = [agent];
  refuses = false;
  calls = [];
  fails = false;
});

const state = new RemoteAgentsState(
  new RemoteAgents(
    new Http({
      fetch: (input, init) => {
        const path = input as string;
        calls.push(`${init?.method} ${path}`);
        if (path.endsWith("/create")) {
          const headers = init?.headers as Record<string, string>;
          keys.push(headers["idempotency-key"] ?? "");
          if (fails) return Promise.reject(new TypeError("away"));
        }
        if (refuses) {
          const error = { error_code: "scope_required", message: "No." };
          const body = { status: 403, retryable: false, ...error };
          return Promise.resolve(Response.json(body, { status: 403 }));
        }
        const lists = { agents, limit: 5, projects: [], personas: [] };
        const embed_defaults = { file_upload: true };
        return Promise.resolve(Response.json({ ...lists, embed_defaults }));
      },
    }),
  ),
);

const wish = {
  project_name: "shop",
  persona_slug: "kind",
  initial_prompt: "Hello",
};

test("a request with an unknown outcome is repeated with the same idempotency key", async () => {
  fails = true;
  await expect(state.create(wish)).rejects.toMatchObject({
    code: "unreachable",
  });
  fails = false;
  await state.create(wish);
  await state.create(wish);
  const [first, second, third] = keys;
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test("changes are seen at once", async () => {
  await state.stop("a1");
  expect(calls[0]).toBe("DELETE /api/remote_agents/a1");
  expect(calls).toContain("GET /api/remote_agents");
  expect(state.running).toHaveLength(1);
  expect(state.limit).toBe(5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  localStorage.clear();
});

test("an agent that begins to wait is announced once, and one that already waited is not", async () => {
  vi.useFakeTimers();
  const waits = { ...agent, state: "awaiting_input" as const };
  const other = { ...waits, agent_id: "a2" };
  const told: string[] = [];
  agents = [other];
  const stop = state.watch(({ agent_id }) => told.push(agent_id));
  await vi.advanceTimersByTimeAsync(0);
  expect([state.waiting.length, told]).toEqual([1, []]);
  agents = [other, waits];
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([state.waiting.length, told]).toEqual([2, ["a1"]]);
  agents = [other, agent];
  await vi.advanceTimersByTimeAsync(10_000);
  agents = [other, waits];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual(["a1", "a1"]);
  stop();
  calls = [];
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toEqual([]);
});

test("without permission to list agents they are requested only once", async () => {
  vi.useFakeTimers();
  refuses = true;
  const stop = state.watch(() => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toEqual(["GET /api/remote_agents"]);
  stop();
});

class FakeNotification {
  static permission: NotificationPermission = "default";
  static answer: NotificationPermission = "granted";
  static shown: FakeNotification[] = [];
  static requestPermission(): Promise<NotificationPermission> {
    FakeNotification.permission = FakeNotification.answer;
    return Promise.resolve(FakeNotification.answer);
  }

  onclick: (() => void) | null = null;
  closed = false;

  constructor(readonly title: string) {
    FakeNotification.shown.push(this);
  }

  close(): void {
    this.closed = true;
  }
}

test("notifications are shown when they were switched on and the person looks elsewhere", async () => {
  vi.stubGlobal("Notification", FakeNotification);
  const focus = vi.spyOn(document, "hasFocus").mockReturnValue(false);
  vi.spyOn(window, "focus").mockImplementation(() => undefined);
  const clicked = vi.fn();
  const notify = new NotifyState();
  const show = () => notify.show("shop waits", "It asks.", "a1", clicked);
  show();
  expect(FakeNotification.shown).toHaveLength(0);
  await notify.turn(true);
  expect(new NotifyState().on).toBe(true);
  focus.mockReturnValue(true);
  show();
  expect(FakeNotification.shown).toHaveLength(0);
  focus.mockReturnValue(false);
  show();
  const [shown] = FakeNotification.shown;
  expect(shown?.title).toBe("shop waits");
  shown?.onclick?.();
  expect([shown?.closed, clicked.mock.calls.length]).toEqual([true, 1]);
  await notify.turn(false);
  show();
  expect(FakeNotification.shown).toHaveLength(1);
  // A denial by the browser is reported, and nothing is stored.
  FakeNotification.permission = "default";
  FakeNotification.answer = "denied";
  const refused = new NotifyState();
  await refused.turn(true);
  expect([refused.on, refused.blocked]).toEqual([false, true]);
  expect(new NotifyState().on).toBe(false);
});
