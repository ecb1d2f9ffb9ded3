// What the Agents page says, and what it makes.
import { Http, RemoteAgents, type RemoteAgentInfo } from "@gangway/client";
import { beforeEach, expect, test } from "vitest";
import {
  detailOf,
  featuresOf,
  snippetOf,
  stateOf,
} from "../src/agents/words.js";
import { RemoteAgentsState } from "../src/state/remote-agents.svelte.js";

const agent: RemoteAgentInfo = {
  agent_id: "a1",
  project_name: "shop",
  persona_slug: "kind",
  tmux_session_name: "shop-a1",
  attach_command: "tmux attach -t shop-a1",
  brain: "builtin",
  alive: true,
  state: "processing",
  attached: true,
  session_id: "s1",
  feature_flags: { file_upload: true, context_usage: false, voice_mic: true },
  created_at: "2026-01-02T03:04:05Z",
  last_active_at: "2026-01-02T03:04:05Z",
  ended_at: null,
  ended_reason: null,
};

test("an agent is told by what it does, while somebody can know that", () => {
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
let calls: string[];

beforeEach(() => {
  keys = [];
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
        const lists = { agents: [agent], limit: 5, projects: [], personas: [] };
        return Promise.resolve(Response.json(lists));
      },
    }),
  ),
);

const wish = {
  project_name: "shop",
  persona_slug: "kind",
  initial_prompt: "Hello",
};

test("a wish that may have been fulfilled is made again with the same key", async () => {
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
