// Fields of a form from an untrusted JSON Schema: limited in number and depth, without cycles.
import type { JsonValue } from "@gangway/client";

interface Named {
  name: string;
  title: string;
  description: string;
  required: boolean;
  /** Its default. */
  initial: JsonValue | undefined;
}

export interface TextField extends Named {
  kind: "text";
  /** `email`, `uri`, `date` and so on, or nothing. */
  format: string;
  min: number;
  max: number;
}

export interface NumberField extends Named {
  kind: "number";
  whole: boolean;
  min: number | undefined;
  max: number | undefined;
  /** It must be more than this. */
  over: number | undefined;
  /** It must be less than this. */
  under: number | undefined;
}

export interface FlagField extends Named {
  kind: "flag";
}

export interface ChoiceField extends Named {
  kind: "choice";
  options: { label: string; value: JsonValue }[];
}

export interface ListField extends Named {
  kind: "list";
  item: Scalar;
  min: number;
  max: number;
}

export interface GroupField extends Named {
  kind: "group";
  fields: Field[];
}

/** What no form can be made for is written as JSON. */
export interface JsonField extends Named {
  kind: "json";
}

export type Scalar = TextField | NumberField | FlagField | ChoiceField;
export type Field = Scalar | ListField | GroupField | JsonField;

type Schema = Readonly<Record<string, unknown>>;

// More than any tool has that people call with a form.
const MAX_DEPTH = 4;
const MAX_FIELDS = 150;
const MAX_CHOICES = 200;
const MAX_HOPS = 8;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 2_000;

/** The form of a whole schema, or null when there is none and JSON has to be written. */
export function formOf(schema: unknown): GroupField | null {
  const maker = new Maker(asSchema(schema));
  const form = maker.make("", maker.root, true, 0);
  return form.kind === "group" && maker.left >= 0 ? form : null;
}

class Maker {
  readonly root: Schema;
  /** How many fields there may still be. */
  left = MAX_FIELDS;

  constructor(root: Schema) {
    this.root = root;
  }

  make(name: string, raw: Schema, required: boolean, depth: number): Field {
    this.left -= 1;
    const schema = this.#resolve(raw);
    const named: Named = {
      name,
      title: cut(textOf(schema, "title") || name, MAX_TITLE),
      description: cut(textOf(schema, "description"), MAX_DESCRIPTION),
      required,
      initial: own(schema, "default") as JsonValue | undefined,
    };
    return (
      choiceOf(schema, named) ??
      this.#byType(schema, named, depth) ?? { ...named, kind: "json" }
    );
  }

  #byType(schema: Schema, named: Named, depth: number): Field | null {
    switch (typeOf(schema)) {
      case "string":
        return {
          ...named,
          kind: "text",
          format: textOf(schema, "format"),
          min: numberOf(schema, "minLength") ?? 0,
          max: numberOf(schema, "maxLength") ?? Infinity,
        };
      case "number":
      case "integer":
        return {
          ...named,
          kind: "number",
          whole: typeOf(schema) === "integer",
          min: numberOf(schema, "minimum"),
          max: numberOf(schema, "maximum"),
          over: numberOf(schema, "exclusiveMinimum"),
          under: numberOf(schema, "exclusiveMaximum"),
        };
      case "boolean":
        return { ...named, kind: "flag" };
      case "array":
        return this.#list(schema, named, depth);
      case "object":
        return this.#group(schema, named, depth);
      default:
        return null;
    }
  }

  #list(schema: Schema, named: Named, depth: number): Field | null {
    const items = own(schema, "items");
    if (!isObject(items)) return null;
    const item = this.make("", items, true, depth + 1);
    if (!isScalar(item)) return null;
    const min = numberOf(schema, "minItems") ?? 0;
    const max = numberOf(schema, "maxItems") ?? Infinity;
    return { ...named, kind: "list", item, min, max };
  }

  #group(schema: Schema, named: Named, depth: number): Field | null {
    const properties = asSchema(own(schema, "properties"));
    const entries = Object.entries(properties);
    // Whatever may be in an object without names has to be written down.
    const open = entries.length === 0 && depth > 0;
    if (open || depth > MAX_DEPTH || entries.length > this.left) {
      if (depth === 0) this.left = -1;
      return null;
    }
    const required = listOf(schema, "required");
    const fields = entries.map(([name, property]) =>
      this.make(name, asSchema(property), required.includes(name), depth + 1),
    );
    return { ...named, kind: "group", fields };
  }

  /** The schema itself, behind references and the ways to say that it may be null. */
  #resolve(schema: Schema): Schema {
    let found = schema;
    for (let hop = 0; hop < MAX_HOPS; hop += 1) {
      const target = this.#target(found) ?? only(found);
      if (!target) return found;
      const { $ref: _, anyOf: __, oneOf: ___, ...rest } = found;
      // The description at the use takes precedence over the one at the definition.
      found = { ...target, ...rest };
    }
    return {};
  }

  #target(schema: Schema): Schema | null {
    const reference = own(schema, "$ref");
    if (typeof reference !== "string") return null;
    if (!reference.startsWith("#")) return {};
    const steps = reference.split("/").slice(1);
    let found: unknown = this.root;
    for (const step of steps.slice(0, MAX_HOPS)) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isObject(found) ? own(found, name) : undefined;
    }
    return asSchema(found);
  }
}

export function isScalar(field: Field): field is Scalar {
  return !["list", "group", "json"].includes(field.kind);
}

/** The one of several that is not null. */
function only(schema: Schema): Schema | null {
  const several = branches(schema).filter(
    (each) => own(each, "type") !== "null",
  );
  return several.length === 1 ? (several[0] ?? null) : null;
}

function branches(schema: Schema): Schema[] {
  const several = [...listOf(schema, "anyOf"), ...listOf(schema, "oneOf")];
  return several.slice(0, MAX_CHOICES + 1).map(asSchema);
}

function choiceOf(schema: Schema, named: Named): ChoiceField | null {
  const values = listOf(schema, "enum");
  const names = listOf(schema, "enumNames");
  const options =
    values.length > 0
      ? values.map((value, index) => ({ value, title: names[index] }))
      : constants(schema);
  if (options.length === 0 || options.length > MAX_CHOICES) return null;
  return {
    ...named,
    kind: "choice",
    options: options.map(({ value, title }) => ({
      label: cut(labelOf(title, value), MAX_TITLE),
      value: value as JsonValue,
    })),
  };
}

function labelOf(title: unknown, value: unknown): string {
  if (typeof title === "string" && title) return title;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Values that are listed one by one, each with a title. */
function constants(schema: Schema): { value: unknown; title: unknown }[] {
  if (Object.hasOwn(schema, "const")) {
    return [{ value: own(schema, "const"), title: undefined }];
  }
  const several = branches(schema);
  if (!several.every((each) => Object.hasOwn(each, "const"))) return [];
  return several.map((each) => ({
    value: own(each, "const"),
    title: own(each, "title"),
  }));
}

function typeOf(schema: Schema): string {
  const type = own(schema, "type");
  if (typeof type === "string") return type;
  if (Array.isArray(type)) {
    const rest = type.filter((each) => each !== "null");
    return rest.length === 1 ? String(rest[0]) : "";
  }
  return isObject(own(schema, "properties")) ? "object" : "";
}

function own(schema: Schema, name: string): unknown {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function listOf(schema: Schema, name: string): unknown[] {
  const value = own(schema, name);
  return Array.isArray(value) ? value : [];
}

function textOf(schema: Schema, name: string): string {
  const value = own(schema, name);
  return typeof value === "string" ? value : "";
}

function numberOf(schema: Schema, name: string): number | undefined {
  const value = own(schema, name);
  return typeof value === "number" ? value : undefined;
}

export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
