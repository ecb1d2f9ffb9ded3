// Validates the arguments of pages; invalid ones throw a TypeError with a code like every other error.
import type { ErrorCode } from "./errors.js";

type Fields = Record<string, unknown>;

export function invalid(message: string): TypeError {
  return Object.assign(new TypeError(message), {
    code: "ERR_INVALID_ARGUMENT" satisfies ErrorCode,
  });
}

export function options(value: unknown, method: string): Fields {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null) return value as Fields;
  throw invalid(`${method} expects an options object`);
}

export function text(value: unknown, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`${what} must be a non-empty string`);
}

export function optionalText(value: unknown, what: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw invalid(`${what} must be a string`);
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
  throw invalid(`${what} must be an array of strings`);
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
  throw invalid(`${what} must be a number from ${least} to ${most}`);
}

export function optionalWhole(
  value: unknown,
  what: string,
  least: number,
  most: number,
): number | undefined {
  const given = optionalNumber(value, what, least, most);
  if (given === undefined || Number.isInteger(given)) return given;
  throw invalid(`${what} must be an integer`);
}

export function optionalFlag(
  value: unknown,
  what: string,
): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(`${what} must be a boolean`);
}

export function signalOf(fields: Fields): AbortSignal | undefined {
  const signal = fields["signal"];
  if (signal === undefined || signal === null) return undefined;
  if (signal instanceof AbortSignal) return signal;
  throw invalid("signal must be an AbortSignal");
}

/** The scopes of a request; one that Gangway does not know comes back as not granted. */
export function scopes(value: unknown): string[] {
  const list = optionalTexts(value, "scopes");
  if (list && list.length > 0) return list;
  throw invalid("scopes must be a non-empty array of permission scopes");
}
