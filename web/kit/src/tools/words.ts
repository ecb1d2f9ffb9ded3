// Labels for MCP servers, their tools and installs.
import type {
  Install,
  InstallStep,
  ToolInfo,
  ToolServerInfo,
} from "@gangway/client";
import { count } from "../parts/amounts.js";

export type Tone = "ok" | "busy" | "bad" | "off";

/** The state of a server, as a dot and as text. */
export function stateOf({ state }: ToolServerInfo): {
  tone: Tone;
  words: string;
} {
  switch (state) {
    case "ready":
      return { tone: "ok", words: "ready" };
    case "starting":
      return { tone: "busy", words: "starting" };
    case "failed":
      return { tone: "bad", words: "failed" };
    case "unauthorized":
      return { tone: "bad", words: "login required" };
    case "stopped":
      return { tone: "off", words: "stopped" };
  }
}

export function wantsLogin({ state, wantsMore }: ToolServerInfo): boolean {
  return state === "unauthorized" || wantsMore;
}

/** What a server says it is, and how many tools it has. */
export function factsOf(server: ToolServerInfo): string[] {
  const { title, version, protocol, tools, state } = server;
  const parts = [
    apart([title, version].filter(Boolean).join(" ")),
    protocol ? `MCP ${protocol}` : "",
    state === "ready" ? count(tools, "tool") : "",
  ];
  return parts.filter(Boolean);
}

/** Foreign text in a line of ours: its bidirectional control characters are isolated. */
function apart(words: string): string {
  return words && `\u2068${words}\u2069`;
}

export interface ToolGroup {
  server: string;
  tools: ToolInfo[];
}

/** Tools by server, with all search terms in their name or description. */
export function groupTools(
  tools: readonly ToolInfo[],
  words: string,
): ToolGroup[] {
  const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, ToolInfo[]>();
  for (const tool of tools) {
    const text = `${tool.name} ${tool.description}`.toLocaleLowerCase();
    if (!wanted.every((word) => text.includes(word))) continue;
    const group = groups.get(tool.serverId) ?? [];
    group.push(tool);
    groups.set(tool.serverId, group);
  }
  return [...groups].map(([server, own]) => ({ server, tools: own }));
}

/** A tool's name without that of its server. */
export function ownName({ name, serverId }: ToolInfo): string {
  const prefix = `${serverId}/`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

const STEPS: Record<InstallStep["name"], string> = {
  check: "Verify",
  fetch: "Download",
  register: "Register",
  start: "Start",
};

export function stepInWords({ name }: InstallStep): string {
  return STEPS[name];
}

/** How far an install is. */
export function installInWords({ state, steps }: Install): string {
  if (state === "done") return "Installed";
  if (state === "failed") return "Install failed";
  if (state === "cancelled") return "Cancelled";
  const now = steps.find((step) => step.state === "running");
  return now ? `${stepInWords(now)}…` : "Waiting…";
}

/** A name for a server of the catalog that can be used here. */
export function suggestName(name: string, taken: readonly string[]): string {
  const last = name.split("/").at(-1) ?? name;
  const base =
    last
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replace(/^(mcp-server-|server-|mcp-)/, "")
      .replaceAll(/^[-.]+|[-.]+$/g, "")
      .slice(0, 40) || "server";
  let wanted = base;
  for (let n = 2; taken.includes(wanted); n += 1) wanted = `${base}-${n}`;
  return wanted;
}
