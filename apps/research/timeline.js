// The events of a run, as the entries that a person sees.

/** Characters of a value that are shown. */
const LONG = 4000;

/** Adds an event to the entries: a new entry, or more words of the one that is being written. */
export function fold(entries, event, at) {
  const last = entries.at(-1);
  if (event.type === "token" && last?.kind === "words") {
    const more = {
      ...last,
      text: last.text + event.token,
      parts: last.parts + 1,
    };
    return [...entries.slice(0, -1), more];
  }
  const entry = entryOf(event);
  return entry ? [...entries, { ...entry, at }] : entries;
}

function entryOf(event) {
  switch (event.type) {
    case "status":
      return { kind: "status", title: event.message };
    case "token":
      return { kind: "words", title: "", text: event.token, parts: 1 };
    case "tool_call":
      return { kind: "call", title: event.tool, detail: shown(event.args) };
    case "tool_result":
      return event.error
        ? { kind: "failed", title: event.tool, detail: event.error.message }
        : { kind: "result", title: event.tool, detail: shown(event.result) };
    case "final":
      return { kind: "final", title: "" };
    case "error":
      return {
        kind: "failed",
        title: "The run ended",
        detail: event.error.message,
      };
    default:
      // A later Gangway may say more than this page knows.
      return null;
  }
}

/** A value as a person can read it, cut where it is very long. */
export function shown(value) {
  const text =
    typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return text.length > LONG ? `${text.slice(0, LONG)}\n[cut]` : text;
}

/** Milliseconds since the start, as `+1.2 s`. */
export const since = (ms) => `+${(ms / 1000).toFixed(1)} s`;

/** What agent.run takes, from what the form holds. */
export function optionsFrom({ task, which, ticked, calls, cite }) {
  return {
    task: task.trim(),
    maxToolCalls: calls,
    requireCitations: cite,
    ...(which === "all" && { useAllTools: true }),
    ...(which === "ticked" && { tools: ticked }),
  };
}

/** Tools by their server, servers and tools in the order of their names. */
export function byServer(tools) {
  const servers = new Map();
  const sorted = [...tools].sort((a, b) => a.name.localeCompare(b.name, "en"));
  for (const tool of sorted) {
    const server = tool.serverId ?? tool.name.split("/")[0];
    servers.set(server, [...(servers.get(server) ?? []), tool]);
  }
  return [...servers];
}
