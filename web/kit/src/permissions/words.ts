// Texts about the permissions of pages.
import {
  isLocal,
  type AskedTool,
  type PermissionDuration,
  type OriginPermissions,
  type PermissionDetails,
  type PermissionGrant,
  type PermissionScope,
} from "@gangway/client";

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
    title: "Use your model",
    means:
      "Sends prompts to your model and reads the answers. May cost money, up to the site's daily budget.",
    risk: "medium",
  },
  "model:list": {
    title: "List your models",
    means: "Sees which models and providers you have.",
    risk: "low",
  },
  "model:tools": {
    title: "Run an agent with tools",
    means:
      "Gives your model a task to carry out with the tools below. May cost money, up to the site's daily budget.",
    risk: "high",
  },
  "mcp:tools.list": {
    title: "List your tools",
    means: "Sees the names and descriptions of your tools.",
    risk: "low",
  },
  "mcp:tools.call": {
    title: "Use your tools",
    means: "Calls the tools below on your behalf, with any arguments.",
    risk: "high",
  },
  "mcp:servers.register": {
    title: "Connect its own MCP server",
    means:
      "Connects an MCP server of this site. Only this site can use its tools.",
    risk: "high",
  },
  "browser:activeTab.read": {
    title: "Read this page",
    means: "Reads the text of the open page.",
    risk: "medium",
  },
  "browser:activeTab.click": {
    title: "Click on this page",
    means:
      "Clicks buttons and links on the open page on your behalf, without asking again.",
    risk: "high",
  },
  "browser:activeTab.fill": {
    title: "Fill in fields on this page",
    means:
      "Fills in fields of the open page, except password and payment fields.",
    risk: "high",
  },
  "browser:activeTab.screenshot": {
    title: "Take screenshots of this page",
    means:
      "Sees the open page as you see it, including images from other sites that it could not read itself.",
    risk: "high",
  },
  "chat:open": {
    title: "Open a chat",
    means: "Opens a chat with your model beside the page.",
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
  "granted-once": "Allowed once",
  denied: "Denied",
  "not-granted": "Ask me",
};

/** How long “Always allow” lasts. */
export const DURATIONS: Record<PermissionDuration, string> = {
  "1h": "1 hour",
  "1d": "1 day",
  "30d": "30 days",
  never: "until I revoke it",
};

export const ALL_DURATIONS = Object.keys(DURATIONS) as PermissionDuration[];

/** When something ends, as people say it: today by the time, later by the day. */
export function untilWhen(at: string, now = new Date()): string {
  const end = new Date(at);
  if (Number.isNaN(end.getTime())) return at;
  const soon = end.getTime() - now.getTime() < 48 * 60 * 60 * 1000;
  return end.toLocaleString(undefined, {
    dateStyle: "medium",
    ...(soon && { timeStyle: "short" }),
  });
}

/** What can be set about a scope, with what stands about it now. */
export function choicesFor(
  site: OriginPermissions,
  scope: PermissionScope,
): { value: string; words: string; disabled?: boolean }[] {
  const now = site.scopes[scope];
  const end = site.ends?.scopes?.[scope];
  return [
    ...(now === "granted-once"
      ? [{ value: now, words: GRANTS[now], disabled: true }]
      : []),
    { value: "not-granted", words: GRANTS["not-granted"] },
    ...(end
      ? [{ value: "until", words: `Allowed until ${untilWhen(end)}` }]
      : []),
    // Without HTTPS nothing can be kept.
    ...(site.onceOnly
      ? []
      : [
          ...(["1h", "1d", "30d"] as const).map((duration) => ({
            value: duration,
            words: `Allow for ${DURATIONS[duration]}`,
          })),
          { value: "never", words: GRANTS["granted-always"] },
        ]),
    { value: "denied", words: GRANTS.denied },
  ];
}

/** Which of the choices stands. */
export function chosen(site: OriginPermissions, scope: PermissionScope) {
  const now = site.scopes[scope];
  if (now !== "granted-always") return now;
  return site.ends?.scopes?.[scope] ? "until" : "never";
}

/** What an origin may do, in one line. */
export function summary({
  scopes,
  ends,
}: Pick<OriginPermissions, "scopes" | "ends">): string {
  const count = (grant: PermissionGrant) =>
    ALL_SCOPES.filter((scope) => scopes[scope] === grant).length;
  const ending = Object.values(ends?.scopes ?? {}).sort();
  const [first] = ending;
  const parts = [
    [count("granted-always") - ending.length, "always allowed"],
    [
      ending.length,
      `allowed until ${first === undefined ? "" : untilWhen(first)}${
        ending.at(-1) === first ? "" : " or later"
      }`,
    ],
    [count("granted-once"), "allowed once"],
    [count("denied"), "denied"],
  ] as const;
  const said = parts.filter(([number]) => number > 0);
  if (said.length === 0) return "Nothing is allowed";
  return said.map(([number, words]) => `${number} ${words}`).join(", ");
}

/** More tools than this are not allowed by one click: each has to be checked. */
export const HANDFUL = 5;

/** The tools that are checked when a question is first shown. */
export function checkedFirst(tools: readonly AskedTool[]): string[] {
  return tools.length > HANDFUL ? [] : tools.map(({ name }) => name);
}

/** How much is asked, in one line. */
export function askedFor({
  scopes,
  tools,
  server,
}: Pick<PermissionDetails, "scopes" | "tools" | "server">): string {
  const high = scopes.filter((scope) => SCOPES[scope].risk === "high").length;
  const parts = [
    ...(scopes.length > 0
      ? [
          some(scopes.length, "permission") +
            (high > 0 ? ` (${high} high-risk)` : ""),
        ]
      : []),
    ...(tools && tools.length > 0 ? [some(tools.length, "tool")] : []),
    ...(server ? ["1 MCP server"] : []),
  ];
  return `Requests ${parts.join(", ") || "nothing more"}`;
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Tools by their servers, in the order in which the servers come. */
export function byServer(tools: readonly AskedTool[]): [string, AskedTool[]][] {
  const groups = new Map<string, AskedTool[]>();
  for (const tool of tools) {
    const group = groups.get(tool.server);
    if (group) group.push(tool);
    else groups.set(tool.server, [tool]);
  }
  return [...groups];
}

/** Whether an address is one of the person's own computer. */
export function isOwnMachine(url: string): boolean {
  return URL.canParse(url) && isLocal(url);
}

/** The server of a tool, and its own name. */
export function splitTool(name: string): { server: string; tool: string } {
  const at = name.indexOf("/");
  return { server: name.slice(0, at), tool: name.slice(at + 1) };
}
