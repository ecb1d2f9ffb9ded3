// How a tool declares what it takes, the TypeScript types that follow from it, and the check before it runs.
import { isRecord } from "./wire.js";

export type ParameterType =
  "string" | "number" | "integer" | "boolean" | "array" | "object" | "any";

export interface Parameter {
  type: ParameterType;
  description?: string;
  /** The only values there are. */
  enum?: readonly (string | number)[];
  optional?: boolean;
  /** Of a number. */
  minimum?: number;
  maximum?: number;
  /** What each entry of a list is. */
  items?: Parameter;
  /** What the fields of an object are. */
  properties?: Parameters;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The values that fit a parameter. */
export type ValueOf<P extends Parameter> = P extends {
  enum: readonly (infer E)[];
}
  ? E
  : P extends { type: "string" }
    ? string
    : P extends { type: "number" | "integer" }
      ? number
      : P extends { type: "boolean" }
        ? boolean
        : P extends { type: "array" }
          ? P extends { items: infer I extends Parameter }
            ? ValueOf<I>[]
            : unknown[]
          : P extends { type: "object" }
            ? P extends { properties: infer F extends Parameters }
              ? ParamsOf<F>
              : Record<string, unknown>
            : unknown;

type OptionalKeys<P extends Parameters> = {
  [K in keyof P]: P[K] extends { optional: true } ? K : never;
}[keyof P];

type Flat<T> = { [K in keyof T]: T[K] };

/** What a tool with these parameters is run with. */
export type ParamsOf<P extends Parameters> = Flat<
  { -readonly [K in Exclude<keyof P, OptionalKeys<P>>]: ValueOf<P[K]> } & {
    -readonly [K in OptionalKeys<P>]?: ValueOf<P[K]>;
  }
>;

// Deeper than any declaration; deeper values are not checked.
const DEEPEST = 8;
// Enough to mend a call in one go.
const MOST_PROBLEMS = 5;

/** Error messages about `params`; empty if they are valid. */
export function problemsOf(parameters: Parameters, params: unknown): string[] {
  if (!isRecord(params)) return ["params must be an object"];
  const problems: string[] = [];
  checkFields(parameters, params, "", 0, problems);
  return problems.slice(0, MOST_PROBLEMS);
}

function checkFields(
  parameters: Parameters,
  given: Record<string, unknown>,
  path: string,
  depth: number,
  problems: string[],
): void {
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const at = path + name;
    // Some models write null for what they leave out.
    if (value === undefined || (value === null && parameter.type !== "any")) {
      if (!parameter.optional) problems.push(`${at} is missing`);
    } else check(parameter, value, at, depth, problems);
  }
  for (const name of Object.keys(given)) {
    if (problems.length >= MOST_PROBLEMS) return;
    if (!Object.hasOwn(parameters, name)) {
      const known = Object.keys(parameters).join(", ") || "none";
      problems.push(
        `${short(path + name)} is unknown (known parameters: ${known})`,
      );
    }
  }
}

function check(
  parameter: Parameter,
  value: unknown,
  at: string,
  depth: number,
  problems: string[],
): void {
  if (problems.length >= MOST_PROBLEMS || depth > DEEPEST) return;
  const { type, items, properties, minimum, maximum } = parameter;
  if (!fits(type, value)) {
    const article = /^[aio]/.test(type) ? "an" : "a";
    problems.push(`${at} must be ${article} ${type}`);
    return;
  }
  if (parameter.enum && !parameter.enum.includes(value as string | number)) {
    problems.push(`${at} must be one of ${parameter.enum.join(", ")}`);
  }
  if (typeof value === "number") {
    if (minimum !== undefined && value < minimum) {
      problems.push(`${at} must be at least ${minimum}`);
    }
    if (maximum !== undefined && value > maximum) {
      problems.push(`${at} must be at most ${maximum}`);
    }
  }
  if (Array.isArray(value) && items) {
    for (const [index, entry] of value.entries()) {
      check(items, entry, `${at}[${index}]`, depth + 1, problems);
    }
  }
  if (isRecord(value) && properties) {
    checkFields(properties, value, `${at}.`, depth + 1, problems);
  }
}

function fits(type: ParameterType, value: unknown): boolean {
  switch (type) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function short(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}
