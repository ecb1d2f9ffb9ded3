// What a form is: reading one from anywhere, and checking answers.

export const TYPES = {
  text: "Text",
  "long-text": "Long text",
  number: "Number",
  date: "Date",
  email: "Email address",
  choice: "Single choice",
  choices: "Multiple choice",
  "yes-no": "Yes or no",
  rating: "Rating",
} as const;
export type FieldType = keyof typeof TYPES;

export interface Field {
  name: string;
  label: string;
  type: FieldType;
  help: string;
  required: boolean;
  options: string[];
  min: number | null;
  max: number | null;
}

export interface Form {
  title: string;
  description: string;
  submit: string;
  fields: Field[];
}

export type Answer = string | number | boolean | string[] | null;
export type Answers = Record<string, Answer>;

// A form with more fields than this is useless.
const MOST_FIELDS = 200;
const MOST_OPTIONS = 100;

export const hasOptions = (type: FieldType): boolean =>
  type === "choice" || type === "choices";

function text(value: unknown, longest: number): string {
  return typeof value === "string" ? value.trim().slice(0, longest) : "";
}

function limit(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function isType(value: unknown): value is FieldType {
  return typeof value === "string" && Object.hasOwn(TYPES, value);
}

/** A unique field name derived from a label. */
export function nameFor(label: string, taken: ReadonlySet<string>): string {
  const base =
    label
      .toLowerCase()
      .normalize("NFKD")
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^_+|_+$/g, "")
      .slice(0, 40) || "field";
  let name = base;
  for (let at = 2; taken.has(name); at += 1) name = `${base}_${at}`;
  return name;
}

export function emptyForm(): Form {
  return { title: "", description: "", submit: "", fields: [] };
}

/** A form out of whatever was given, and what could not be read of it. */
export function readForm(given: unknown): { form: Form; problems: string[] } {
  const problems: string[] = [];
  if (typeof given !== "object" || given === null) {
    return { form: emptyForm(), problems: ["The form is not an object."] };
  }
  const source = given as Record<string, unknown>;
  const list = Array.isArray(source["fields"]) ? source["fields"] : [];
  if (list.length === 0) problems.push("The form has no fields.");
  if (list.length > MOST_FIELDS) {
    problems.push(`Only the first ${MOST_FIELDS} fields are shown.`);
  }
  const taken = new Set<string>();
  const fields: Field[] = [];
  for (const [at, item] of list.slice(0, MOST_FIELDS).entries()) {
    const field = readField(item, taken);
    if (typeof field === "string") problems.push(`Field ${at + 1}: ${field}`);
    else fields.push(field);
  }
  return {
    form: {
      title: text(source["title"], 200) || "Form",
      description: text(source["description"], 2_000),
      submit: text(source["submit"], 60),
      fields,
    },
    problems,
  };
}

function readField(item: unknown, taken: Set<string>): Field | string {
  if (typeof item !== "object" || item === null) return "it must be an object.";
  const source = item as Record<string, unknown>;
  const label = text(source["label"], 300) || text(source["name"], 60);
  if (label === "") return "it has neither a label nor a name.";
  const given = source["type"] ?? "text";
  if (!isType(given)) {
    return `its type must be one of ${Object.keys(TYPES).join(", ")}.`;
  }
  const options = Array.isArray(source["options"])
    ? source["options"].map((each) => text(each, 200)).filter(Boolean)
    : [];
  if (hasOptions(given) && options.length === 0) return "it has no options.";
  const wanted = text(source["name"], 60);
  const name =
    wanted !== "" && !taken.has(wanted) ? wanted : nameFor(label, taken);
  taken.add(name);
  return {
    name,
    label,
    type: given,
    help: text(source["help"], 500),
    required: source["required"] === true,
    options: [...new Set(options)].slice(0, MOST_OPTIONS),
    min: limit(source["min"]),
    max: limit(source["max"]),
  };
}

/** The form as it is written down: without what is empty anyway. */
export function writeForm(form: Form): Record<string, unknown> {
  return {
    title: form.title || "Form",
    ...(form.description && { description: form.description }),
    ...(form.submit && { submit: form.submit }),
    fields: form.fields.map((field) => ({
      name: field.name,
      label: field.label,
      type: field.type,
      ...(field.help && { help: field.help }),
      ...(field.required && { required: true }),
      ...(hasOptions(field.type) && { options: field.options }),
      ...(field.min !== null && { min: field.min }),
      ...(field.max !== null && { max: field.max }),
    })),
  };
}

/** The fields without answers. */
export function emptyAnswer({ type }: Field): Answer {
  if (type === "choices") return [];
  if (type === "yes-no") return false;
  return null;
}

/** The steps of a rating, five unless the form says how many. */
export function ratingSteps({ min, max }: Field): number[] {
  const first = Math.round(min ?? 1);
  const last = Math.min(Math.round(max ?? 5), first + 10);
  return Array.from(
    { length: Math.max(1, last - first + 1) },
    (_, at) => first + at,
  );
}

/** An answer from elsewhere, if it is one that this field can have. */
export function readAnswer(field: Field, value: unknown): Answer {
  switch (field.type) {
    case "number":
    case "rating":
      return limit(value);
    case "yes-no":
      return value === true;
    case "choices":
      return Array.isArray(value)
        ? field.options.filter((option) => value.includes(option))
        : [];
    case "choice":
      return typeof value === "string" && field.options.includes(value)
        ? value
        : null;
    default:
      return typeof value === "string" && value !== "" ? value : null;
  }
}

/** Answers for a form: those that were there and still fit, and empty ones. */
export function carryOver(form: Form, before: unknown): Answers {
  const old = (
    typeof before === "object" && before !== null ? before : {}
  ) as Record<string, unknown>;
  return Object.fromEntries(
    form.fields.map((field) => [
      field.name,
      Object.hasOwn(old, field.name)
        ? readAnswer(field, old[field.name])
        : emptyAnswer(field),
    ]),
  );
}

/** The error message of an answer, or nothing. */
export function problemOf(field: Field, answer: Answer): string | null {
  const empty =
    answer === null ||
    answer === "" ||
    (Array.isArray(answer) && answer.length === 0);
  if (field.required && (empty || answer === false)) {
    return field.type === "yes-no"
      ? "This must be checked."
      : "This is required.";
  }
  if (empty) return null;
  const { min, max } = field;
  if (field.type === "email" && !/^[^\s@]+@[^\s@]+$/.test(String(answer))) {
    return "Enter a valid email address.";
  }
  if (field.type === "number" && typeof answer === "number") {
    if (min !== null && answer < min) return `At least ${min}.`;
    if (max !== null && answer > max) return `At most ${max}.`;
  }
  if (
    (field.type === "text" || field.type === "long-text") &&
    typeof answer === "string"
  ) {
    if (min !== null && answer.length < min)
      return `At least ${min} characters.`;
    if (max !== null && answer.length > max)
      return `At most ${max} characters.`;
  }
  return null;
}

/** Every problem by the name of its field. */
export function problemsOf(form: Form, answers: Answers): Map<string, string> {
  const found = new Map<string, string>();
  for (const field of form.fields) {
    const problem = problemOf(field, answers[field.name] ?? emptyAnswer(field));
    if (problem !== null) found.set(field.name, problem);
  }
  return found;
}

/** The list with one of it moved up or down; the same list where it cannot. */
export function moved<T>(list: readonly T[], at: number, by: number): T[] {
  const to = at + by;
  const copy = [...list];
  const [item] = copy.splice(at, 1);
  if (item === undefined || to < 0 || to > copy.length) return [...list];
  copy.splice(to, 0, item);
  return copy;
}
