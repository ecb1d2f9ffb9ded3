// What pages may pass; whatever else they pass is a TypeError that says so.
import type { PermissionScope } from "./api.js";

export const SCOPES: Readonly<Record<PermissionScope, true>> = {
  "model:prompt": true,
  "model:tools": true,
  "model:list": true,
  "mcp:tools.list": true,
  "mcp:tools.call": true,
  "mcp:servers.register": true,
  "browser:activeTab.read": true,
  "chat:open": true,
};

type Fields = Record<string, unknown>;

export function options(value: unknown, method: string): Fields {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null) return value as Fields;
  throw new TypeError(`${method} takes an object with its options`);
}

export function text(value: unknown, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${what} has to be a text that is not empty`);
}

export function optionalText(value: unknown, what: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError(`${what} has to be a text`);
}

export function optionalTexts(
  value: unknown,
  what: string,
): string[] | undefined {
  if (value === undefined) return undefined;
  const list: string[] = [];
  const given = Array.isArray(value) ? (value as unknown[]) : null;
  for (let at = 0; given && at < given.length; at += 1) {
    if (typeof given[at] !== "string") break;
    list[at] = given[at] as string;
  }
  if (given && list.length === given.length) return list;
  throw new TypeError(`${what} has to be a list of texts`);
}

export function optionalNumber(
  value: unknown,
  what: string,
  least: number,
  most: number,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= least && value <= most) {
    return value;
  }
  throw new TypeError(`${what} has to be a number from ${least} to ${most}`);
}

export function optionalWhole(
  value: unknown,
  what: string,
  least: number,
  most: number,
): number | undefined {
  const given = optionalNumber(value, what, least, most);
  if (given === undefined || Number.isInteger(given)) return given;
  throw new TypeError(`${what} has to be a whole number`);
}

export function optionalFlag(
  value: unknown,
  what: string,
): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new TypeError(`${what} has to be true or false`);
}

export function signalOf(fields: Fields): AbortSignal | undefined {
  const signal = fields["signal"];
  if (signal === undefined || signal === null) return undefined;
  if (signal instanceof AbortSignal) return signal;
  throw new TypeError("signal has to be an AbortSignal");
}

/** The scopes of a request, each of them one that there is. */
export function scopes(value: unknown): string[] {
  const list = optionalTexts(value, "scopes");
  if (!list || list.length === 0) {
    throw new TypeError("scopes has to name what the page wants to do");
  }
  for (let at = 0; at < list.length; at += 1) {
    const scope = list[at] as string;
    // What every object inherits is no scope.
    if (Object.hasOwn(SCOPES, scope)) continue;
    const known = Object.keys(SCOPES).join(", ");
    const words = `There is no scope "${scope}". There are: ${known}`;
    throw Object.assign(new TypeError(words), { code: "ERR_SCOPE_REQUIRED" });
  }
  return list;
}
