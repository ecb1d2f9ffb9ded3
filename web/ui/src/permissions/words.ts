// What the permissions of pages mean, in words.
import type { PermissionGrant, PermissionScope } from "@gangway/client";

export type Risk = "low" | "medium" | "high";

interface ScopeWords {
  title: string;
  /** What a page with it can do. */
  means: string;
  risk: Risk;
}

/** In the order in which they are shown. */
export const SCOPES: Record<PermissionScope, ScopeWords> = {
  "model:prompt": {
    title: "Have your model write",
    means:
      "Sends text to your model and reads the answers. You may pay for it.",
    risk: "low",
  },
  "model:list": {
    title: "See your models",
    means: "Learns which models and providers you have.",
    risk: "low",
  },
  "model:tools": {
    title: "Run an agent with tools",
    means: "Gives your model a task, which it does with the tools below.",
    risk: "high",
  },
  "mcp:tools.list": {
    title: "See your tools",
    means: "Learns the names and descriptions of your tools.",
    risk: "low",
  },
  "mcp:tools.call": {
    title: "Use your tools",
    means: "Calls the tools below as you could, with whatever it likes.",
    risk: "high",
  },
  "mcp:servers.register": {
    title: "Bring tools of its own",
    means: "Connects a server of tools of this site, for this site alone.",
    risk: "high",
  },
  "browser:activeTab.read": {
    title: "Read this page",
    means: "Takes the text of the page that is open.",
    risk: "medium",
  },
  "chat:open": {
    title: "Open a chat",
    means: "Shows a chat with your model beside the page.",
    risk: "low",
  },
};

export const ALL_SCOPES = Object.keys(SCOPES) as PermissionScope[];

export const RISKS: Record<Risk, string> = {
  low: "Low risk",
  medium: "Medium risk",
  high: "High risk",
};

export const GRANTS: Record<PermissionGrant, string> = {
  "granted-always": "Always allowed",
  "granted-once": "Allowed for now",
  denied: "Denied",
  "not-granted": "Ask me",
};

/** What an origin may do, in one line. */
export function summary(
  scopes: Record<PermissionScope, PermissionGrant>,
): string {
  const count = (grant: PermissionGrant) =>
    ALL_SCOPES.filter((scope) => scopes[scope] === grant).length;
  const parts = [
    [count("granted-always"), "always allowed"],
    [count("granted-once"), "allowed for now"],
    [count("denied"), "denied"],
  ] as const;
  const said = parts.filter(([number]) => number > 0);
  if (said.length === 0) return "Nothing is allowed";
  return said.map(([number, words]) => `${number} ${words}`).join(", ");
}

/** The server of a tool, and its own name. */
export function splitTool(name: string): { server: string; tool: string } {
  const at = name.indexOf("/");
  return { server: name.slice(0, at), tool: name.slice(at + 1) };
}
