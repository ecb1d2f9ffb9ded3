// Elements of this document that can be clicked or filled in: listing them, and finding the one that is meant.
import type { BrowserElement } from "@gangway/client/web-agent";
import {
  AgentApiError,
  type ErrorCode,
  everyOf,
} from "@gangway/client/extension";
import { isProtected } from "./protected.js";

const MAX_SELECTOR = 1_000;
/** Elements in one list, and candidates that are looked at for it. */
const MAX_LISTED = 300;
const MAX_EXAMINED = 20_000;
/** Characters of each text in the list. */
const MAX_TEXT = 200;
/** References that are kept; the oldest go first. */
const MAX_REFS = 3_000;

const INTERACTIVE = [
  ...["a[href]", "button", "input", "select", "textarea", "summary"],
  ...["[contenteditable]", "[onclick]", "[tabindex]"],
  ..."button link checkbox radio switch tab menuitem option combobox textbox searchbox slider"
    .split(" ")
    .map((role) => `[role=${role}]`),
].join(",");

/** No reference is a selector, and no selector is a reference. */
const REFERENCE = /^@e\d{1,9}$/;

const ROLES: Record<string, string> = {
  a: "link",
  button: "button",
  select: "combobox",
  textarea: "textbox",
  summary: "button",
};

const INPUT_ROLES: Record<string, string> = {
  ...{ checkbox: "checkbox", radio: "radio", range: "slider" },
  ...{ button: "button", submit: "button", reset: "button", image: "button" },
};

export function failure(
  code: ErrorCode,
  message: string,
  details?: object,
): AgentApiError {
  return new AgentApiError(code, message, details);
}

export class Elements {
  readonly #byRef = new Map<string, WeakRef<Element>>();
  readonly #refs = new WeakMap<Element, string>();
  #count = 0;

  /** What can be seen and used, in the order of the document. */
  list(): BrowserElement[] {
    const found: BrowserElement[] = [];
    let examined = 0;
    for (const element of everyOf(INTERACTIVE)) {
      examined += 1;
      if (found.length >= MAX_LISTED || examined > MAX_EXAMINED) break;
      if (isTarget(element) && isShown(element)) {
        found.push(this.#describe(element));
      }
    }
    return found;
  }

  /** The one element that a selector or a reference names. */
  find(target: string): Element {
    const found = REFERENCE.test(target)
      ? this.#byReference(target)
      : bySelector(target);
    if (isTarget(found)) return found;
    throw failure(
      "ERR_INVALID_ARGUMENT",
      "Forms, frames and embedded objects cannot be clicked or filled in. Select an element inside the form.",
    );
  }

  #byReference(ref: string): Element {
    const element = this.#byRef.get(ref)?.deref();
    if (element?.isConnected) return element;
    throw failure(
      "ERR_ELEMENT_NOT_FOUND",
      `Element ${ref} no longer exists. List the elements again.`,
    );
  }

  #describe(element: Element): BrowserElement {
    const field = isField(element) ? element : null;
    const input = element instanceof HTMLInputElement ? element : null;
    const checkable = input?.type === "checkbox" || input?.type === "radio";
    const placeholder = element.getAttribute("placeholder");
    const shows = field && !checkable && !isProtected(field);
    return {
      ref: this.#refOf(element),
      role: roleOf(element),
      text: short(textOf(element)),
      ...(input && { type: input.type }),
      ...(placeholder && { placeholder: short(placeholder) }),
      ...(shows && field.value !== "" && { value: short(field.value) }),
      ...(checkable && { checked: input.checked }),
      ...(isDisabled(element) && { disabled: true }),
    };
  }

  #refOf(element: Element): string {
    const known = this.#refs.get(element);
    if (known !== undefined && this.#byRef.has(known)) return known;
    const ref = `@e${(this.#count += 1)}`;
    this.#refs.set(element, ref);
    this.#byRef.set(ref, new WeakRef(element));
    const [oldest] = this.#byRef.keys();
    if (this.#byRef.size > MAX_REFS && oldest) this.#byRef.delete(oldest);
    return ref;
  }
}

function bySelector(selector: string): Element {
  if (selector.length > MAX_SELECTOR) {
    throw failure(
      "ERR_INVALID_ARGUMENT",
      `A selector must be at most ${MAX_SELECTOR} characters.`,
    );
  }
  let found: Element[];
  try {
    found = [...everyOf(selector)];
  } catch {
    throw failure(
      "ERR_INVALID_ARGUMENT",
      `${JSON.stringify(short(selector))} is not a valid CSS selector.`,
    );
  }
  const [first] = found;
  if (!first) {
    throw failure(
      "ERR_ELEMENT_NOT_FOUND",
      `No element of this page matches ${JSON.stringify(short(selector))}.`,
    );
  }
  if (found.length > 1) {
    throw failure(
      "ERR_ELEMENT_AMBIGUOUS",
      `${found.length} elements match ${JSON.stringify(short(selector))}. Use a selector that matches one.`,
      { count: found.length },
    );
  }
  return first;
}

/** The names of fields stand for the methods of a form, so nothing is asked of one. */
function isTarget(element: Element): boolean {
  return !(
    element instanceof HTMLFormElement ||
    element instanceof HTMLIFrameElement ||
    element instanceof HTMLObjectElement ||
    element instanceof HTMLEmbedElement
  );
}

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function isField(element: Element): element is Field {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  );
}

/** Whether the person can see an element; checkboxes are often drawn by something else, and transparent themselves. */
export function isShown(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  if (width <= 0 || height <= 0) return false;
  const drawn =
    element instanceof HTMLInputElement &&
    (element.type === "checkbox" || element.type === "radio");
  return element.checkVisibility({
    visibilityProperty: true,
    opacityProperty: !drawn,
  });
}

export function isDisabled(element: Element): boolean {
  return (
    element.matches(":disabled") ||
    element.closest('[inert], [aria-disabled="true"]') !== null
  );
}

function roleOf(element: Element): string {
  const given = element.getAttribute("role")?.trim().split(/\s+/)[0];
  if (given) return short(given);
  if (element instanceof HTMLInputElement) {
    return INPUT_ROLES[element.type] ?? "textbox";
  }
  if (element instanceof HTMLElement && element.isContentEditable) {
    return "textbox";
  }
  return ROLES[element.localName] ?? "generic";
}

/** What a person would call the element. */
function textOf(element: Element): string {
  const label = element.getAttribute("aria-label");
  if (label) return label;
  if (isField(element)) {
    const labelled = [...(element.labels ?? [])].map((one) => one.textContent);
    if (labelled.length > 0) return labelled.join(" ");
    const isButton =
      element instanceof HTMLInputElement && roleOf(element) === "button";
    if (isButton) return element.value || element.alt || element.type;
    return element.getAttribute("title") ?? element.name;
  }
  return (
    element.textContent.slice(0, 10 * MAX_TEXT).trim() ||
    element.getAttribute("title") ||
    element.querySelector("img[alt]")?.getAttribute("alt") ||
    ""
  );
}

function short(text: string): string {
  const line = text
    .slice(0, 10 * MAX_TEXT)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= MAX_TEXT) return line;
  // Not between the halves of one character.
  return line.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, "") + "…";
}
