// What a person wrote into a form, and the JSON that it stands for.
import type { JsonValue } from "@gangway/client";
import type {
  ChoiceField,
  Field,
  ListField,
  NumberField,
  Scalar,
  TextField,
} from "./fields.js";

/** Text as it was written; a list's or group's in their order. */
export type Draft = string | Draft[];

/** What a whole form was filled in with, by name. */
export type Filled = Record<string, JsonValue>;

/** What is wrong, by the place of the field, such as `/address/0`. */
export type Mistakes = Record<string, string>;

export interface Reading {
  /** Nothing when the field was left empty and may be. */
  value: JsonValue | undefined;
  mistakes: Mistakes;
}

// Longer lists are not shown in a form.
const MAX_ITEMS = 100;

/** What a field shows at first. */
export function startOf(field: Field): Draft {
  if (field.kind === "group" && field.initial === undefined) {
    return field.fields.map(startOf);
  }
  return draftOf(field, field.initial);
}

/** What a field shows for a value. */
export function draftOf(field: Field, value: JsonValue | undefined): Draft {
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? value : "";
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "flag":
      if (typeof value === "boolean") return value ? "yes" : "no";
      return field.required ? "no" : "";
    case "choice": {
      const at = field.options.findIndex((each) => same(each.value, value));
      return value === undefined || at < 0 ? "" : String(at);
    }
    case "list":
      if (!Array.isArray(value)) return [];
      return value.slice(0, MAX_ITEMS).map((each) => draftOf(field.item, each));
    case "group":
      return field.fields.map((each) =>
        draftOf(each, memberOf(value, each.name)),
      );
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
  }
}

/** The value that was written, with everything that is wrong about it. */
export function read(field: Field, draft: Draft): Reading {
  const mistakes: Mistakes = {};
  const value = valueOf(field, draft, "", (place, text) => {
    mistakes[place] = text;
  });
  return { value, mistakes };
}

/** Whether a form can show this value and would give it back as it is. */
export function fits(field: Field, value: JsonValue): boolean {
  return same(read(field, draftOf(field, value)).value, value);
}

type Complain = (place: string, text: string) => void;

function valueOf(
  field: Field,
  draft: Draft,
  place: string,
  complain: Complain,
): JsonValue | undefined {
  if (blank(field, draft) && field.kind !== "flag") {
    // The fields of a group that is needed say themselves what is missing.
    if (field.kind !== "group") {
      if (field.required && !empties(field)) {
        complain(place, missing(field));
      }
      return field.required && empties(field) ? [] : undefined;
    }
    if (!field.required) return undefined;
  }
  if (field.kind === "group") {
    const drafts = draft as Draft[];
    const entries = field.fields.flatMap((each, index) => {
      const at = `${place}/${index}`;
      const value = valueOf(each, drafts[index] ?? "", at, complain);
      return value === undefined ? [] : [[each.name, value] as const];
    });
    // Unlike an assignment, this takes every name for what it is.
    return Object.fromEntries(entries);
  }
  if (field.kind === "list") return listOf(field, draft, place, complain);
  const text = draft as string;
  const result = field.kind === "json" ? jsonOf(text) : scalarOf(field, text);
  if (typeof result === "object" && "mistake" in result) {
    complain(place, result.mistake);
    return undefined;
  }
  return result.value;
}

/** Whether a list may be empty although it has to be there. */
function empties(field: Field): boolean {
  return field.kind === "list" && field.min === 0;
}

function missing(field: Field): string {
  return field.kind === "choice" ? "Choose one." : "Required.";
}

function listOf(
  field: ListField,
  draft: Draft,
  place: string,
  complain: Complain,
): JsonValue {
  const drafts = draft as Draft[];
  const { min, max } = field;
  if (drafts.length < min) complain(place, `Enter at least ${min}.`);
  if (drafts.length > max) complain(place, `Enter at most ${max}.`);
  return drafts.flatMap((each, index) => {
    const at = `${place}/${index}`;
    const value = valueOf(field.item, each, at, complain);
    return value === undefined ? [] : [value];
  });
}

type Result = { value: JsonValue | undefined } | { mistake: string };

function scalarOf(field: Scalar, text: string): Result {
  switch (field.kind) {
    case "text":
      return textOf(field, text);
    case "number":
      return numberOf(field, text);
    case "flag":
      return { value: text === "" ? undefined : text === "yes" };
    case "choice":
      return { value: choiceOf(field, text) };
  }
}

function choiceOf(field: ChoiceField, text: string): JsonValue | undefined {
  return field.options[Number(text)]?.value;
}

function textOf({ min, max, format }: TextField, text: string): Result {
  // As the schema counts: a character outside the basic plane is one.
  const { length } = Array.from(text);
  if (length < min) return { mistake: `Enter at least ${min} characters.` };
  if (length > max) return { mistake: `Enter at most ${max} characters.` };
  if (format === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) {
    return { mistake: "Enter a valid email address." };
  }
  if (format === "uri" && !URL.canParse(text)) {
    return {
      mistake: "Enter a valid URL, for example https://example.com.",
    };
  }
  return { value: text };
}

function numberOf(field: NumberField, text: string): Result {
  const value = Number(text.trim());
  const { whole, min, max, over, under } = field;
  if (!Number.isFinite(value)) return { mistake: "Enter a number." };
  if (whole && !Number.isInteger(value)) {
    return { mistake: "Enter a whole number." };
  }
  if (min !== undefined && value < min) {
    return { mistake: `Must be at least ${min}.` };
  }
  if (max !== undefined && value > max) {
    return { mistake: `Must be at most ${max}.` };
  }
  if (over !== undefined && value <= over) {
    return { mistake: `Must be greater than ${over}.` };
  }
  if (under !== undefined && value >= under) {
    return { mistake: `Must be less than ${under}.` };
  }
  return { value };
}

/** JSON that a person wrote. */
export function jsonOf(
  text: string,
): { value: JsonValue } | { mistake: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { mistake: `Invalid JSON: ${why}` };
  }
}

function blank(field: Field, draft: Draft): boolean {
  if (field.kind === "group") {
    const drafts = draft as Draft[];
    return field.fields.every((each, at) => blank(each, drafts[at] ?? ""));
  }
  if (field.kind === "list") return draft.length === 0;
  if (field.kind === "flag" && field.required) return draft === "no";
  // Spaces may be meant, but not where something is counted or parsed.
  const text = draft as string;
  return (field.kind === "text" ? text : text.trim()) === "";
}

function memberOf(value: JsonValue | undefined, name: string) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return undefined;
  }
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a === null || b === null || Array.isArray(a) !== Array.isArray(b)) {
    return false;
  }
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return (
    left.length === right.length &&
    left.every(([name, value]) => same(value, memberIn(b, name)))
  );
}

function memberIn(value: object, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name)
    ? (value as Record<string, JsonValue>)[name]
    : undefined;
}
