// Servers in the JSON that other hosts use.
import type { ServerEntry } from "@gangway/client";
import { joinCommand } from "./command.js";
import { wrongName } from "./entries.js";

export interface Imported {
  id: string;
  entry: ServerEntry;
  /** What would be run or reached; nothing of its environment. */
  target: string;
}

const EXAMPLE = '{"mcpServers": {"files": {"command": "npx", "args": []}}}';

/** The servers, with or without what stands around their list. */
export function readImport(
  text: string,
  taken: readonly string[],
): { servers: Imported[] } | { mistake: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { mistake: `Invalid JSON: ${why}` };
  }
  const around = objectOf(json);
  const list = objectOf(
    around?.["mcpServers"] ?? around?.["servers"] ?? around,
  );
  const entries = Object.entries(list ?? {});
  if (entries.length === 0) {
    return { mistake: `No server found. Expected ${EXAMPLE}` };
  }
  const servers: Imported[] = [];
  for (const [id, raw] of entries) {
    const entry = objectOf(raw) as ServerEntry | null;
    const target = entry && targetOf(entry);
    if (!entry || target === null) {
      return {
        mistake: `“${id}” needs a "command" or a "url". Expected ${EXAMPLE}`,
      };
    }
    const bad = wrongName(id, taken);
    if (bad) return { mistake: `“${id}”: ${bad}` };
    servers.push({ id, entry, target });
  }
  return { servers };
}

function targetOf({ command, args, url }: ServerEntry): string | null {
  if (typeof command === "string" && command.trim()) {
    const words: unknown = args ?? [];
    if (!Array.isArray(words)) return null;
    return joinCommand([command, ...words.map(String)]);
  }
  return typeof url === "string" && url ? url : null;
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
