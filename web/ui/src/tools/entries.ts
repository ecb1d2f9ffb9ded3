// What a person wrote to add a server, and the server that it stands for.
import type { ServerEntry } from "@gangway/client";
import type { Additions } from "@gangway/kit/tools/servers.svelte.js";
import { splitCommand } from "./command.js";

/** A variable or a header. */
export interface Pair {
  name: string;
  value: string;
  secret: boolean;
}

export interface ByHand {
  name: string;
  way: "command" | "url";
  command: string;
  url: string;
  pairs: Pair[];
}

/** What is wrong, by field; `pair-0` is the first of the pairs. */
export type Wrong = Record<string, string>;

export type Checked = { additions: Additions } | { wrong: Wrong };

const NAME = /^[a-z0-9._-]{1,64}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SECRET = /^[A-Za-z0-9_.-]{1,64}$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

export function checkByHand(form: ByHand, taken: readonly string[]): Checked {
  const wrong: Wrong = {};
  const name = form.name.trim();
  const bad = wrongName(name, taken);
  if (bad) wrong["name"] = bad;
  const entry: ServerEntry =
    form.way === "command"
      ? commandOf(form.command, wrong)
      : urlOf(form.url, wrong);
  const { values, secrets } = pairsOf(form, name, wrong);
  if (Object.keys(wrong).length > 0) return { wrong };
  if (Object.keys(values).length > 0) {
    entry[form.way === "command" ? "env" : "headers"] = values;
  }
  return {
    additions: { servers: { [name]: entry }, secrets: { [name]: secrets } },
  };
}

/** Why no server can have this name. */
export function wrongName(
  name: string,
  taken: readonly string[],
): string | null {
  if (!name) return "Enter a name.";
  if (!NAME.test(name) || /^\.+$/.test(name)) {
    return "Use at most 64 lowercase letters, digits, '-', '_' or '.'.";
  }
  return taken.includes(name)
    ? "A server with this name already exists."
    : null;
}

function commandOf(line: string, wrong: Wrong): ServerEntry {
  const split = splitCommand(line);
  if ("mistake" in split) {
    wrong["target"] = split.mistake;
    return {};
  }
  const [command, ...args] = split.words;
  if (!command) wrong["target"] = "Enter the command to run.";
  return { command: command ?? "", args };
}

function urlOf(text: string, wrong: Wrong): ServerEntry {
  const url = text.trim();
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    wrong["target"] = "Enter a URL that starts with https:// or http://.";
  }
  return { url };
}

/** The values by name, where a secret is only named, and the secrets by what they are kept under. */
function pairsOf({ pairs, way }: ByHand, server: string, wrong: Wrong) {
  const values: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const seen: string[] = [];
  pairs.forEach(({ name, value, secret }, index) => {
    const key = name.trim();
    // A row that was never filled in says nothing.
    if (!key && !value) return;
    const known = way === "command" ? VARIABLE : HEADER;
    if (!known.test(key)) {
      wrong[`pair-${index}`] = key
        ? "Invalid name: use letters, digits and '_'."
        : "Enter a name.";
    } else if (seen.includes(key)) {
      wrong[`pair-${index}`] = "Duplicate name.";
    }
    seen.push(key);
    if (!secret) {
      values[key] = value;
      return;
    }
    const kept = `mcp-${server}-${key}`;
    if (!value.trim()) wrong[`pair-${index}`] ??= "Enter a value.";
    if (!SECRET.test(kept)) {
      wrong[`pair-${index}`] ??=
        "Invalid name for a secret: use at most 64 letters, digits, '_', '.' or '-', including the server’s name.";
    }
    values[key] = `\${secret:${kept}}`;
    secrets[kept] = value;
  });
  return { values, secrets };
}

/** `KEY=VALUE` lines, as they stand in files and shells; null when this is something else. */
export function pairsInText(text: string): Pair[] | null {
  const lines = text
    .split("\n")
    .map((line) => line.trim().replace(/^export\s+/, ""))
    .filter((line) => line && !line.startsWith("#"));
  const pairs = lines.flatMap((line) => {
    const equals = line.indexOf("=");
    const name = line.slice(0, Math.max(0, equals));
    if (!VARIABLE.test(name)) return [];
    const rest = line.slice(equals + 1);
    const value = /^(["'])(.*)\1$/.exec(rest)?.[2] ?? rest;
    return [{ name, value, secret: soundsSecret(name) }];
  });
  return pairs.length > 0 && pairs.length === lines.length ? pairs : null;
}

/** Whether a name sounds like that of a secret. */
export function soundsSecret(name: string): boolean {
  return /key|token|secret|passw|credential|^authorization$/i.test(name);
}
