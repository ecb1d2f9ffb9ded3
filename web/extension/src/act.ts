// Clicks and fills in elements of this document, as a person would, where a person could.
import type { Done } from "@gangway/client/web-agent";
import {
  Elements,
  failure,
  isDisabled,
  isField,
  isShown,
  type Field,
} from "./elements.js";
import { isProtected } from "./protected.js";

/** What is filled in at once, in characters. */
const MAX_VALUE = 100_000;

const elements = new Elements();

/** One action in a document. */
export type Action =
  | { type: "elements" }
  | { type: "click"; target: string }
  | { type: "fill"; target: string; value: string };

/** Throws an `AgentApiError` that says why it could not be done. */
export function perform(action: Action): unknown {
  switch (action.type) {
    case "elements":
      return elements.list();
    case "click":
      return click(text(action.target, "target"));
    case "fill":
      return fill(text(action.target, "target"), text(action.value, "value"));
  }
}

function text(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw failure("ERR_INVALID_ARGUMENT", `${what} must be a string.`);
}

function click(target: string): Done {
  const element = reachable(target);
  if (element instanceof HTMLInputElement && element.type === "file") {
    throw failure(
      "ERR_ELEMENT_PROTECTED",
      "File inputs can only be filled in by the user.",
    );
  }
  const { x, y } = pointIn(element);
  const at = { bubbles: true, cancelable: true, composed: true, detail: 1 };
  const down = { ...at, clientX: x, clientY: y, button: 0, buttons: 1 };
  const up = { ...down, buttons: 0 };
  const mouse = { pointerType: "mouse", isPrimary: true };
  element.dispatchEvent(new PointerEvent("pointerdown", { ...down, ...mouse }));
  element.dispatchEvent(new MouseEvent("mousedown", down));
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  element.dispatchEvent(new PointerEvent("pointerup", { ...up, ...mouse }));
  element.dispatchEvent(new MouseEvent("mouseup", up));
  // Only this one has the effect that the browser gives it.
  if (element instanceof HTMLElement) element.click();
  else element.dispatchEvent(new MouseEvent("click", up));
  return { success: true };
}

function fill(target: string, value: string): Done {
  if (value.length > MAX_VALUE) {
    throw failure(
      "ERR_INVALID_ARGUMENT",
      `The value must be at most ${MAX_VALUE} characters.`,
    );
  }
  const element = reachable(target);
  if (isField(element)) fillField(element, value);
  else if (element instanceof HTMLElement && element.isContentEditable) {
    element.focus({ preventScroll: true });
    element.textContent = value;
    changed(element);
  } else
    throw failure("ERR_INVALID_ARGUMENT", "This element is not a form field.");
  return { success: true };
}

/** Not one of these takes text. */
const NO_TEXT = new Set(
  "checkbox radio file button submit reset image hidden".split(" "),
);

function fillField(field: Field, value: string): void {
  if (isProtected(field)) {
    throw failure(
      "ERR_ELEMENT_PROTECTED",
      "Password, one-time code and payment fields can only be filled in by the user.",
    );
  }
  if (field instanceof HTMLSelectElement) {
    choose(field, value);
    return;
  }
  if (field instanceof HTMLInputElement && NO_TEXT.has(field.type)) {
    throw failure(
      "ERR_INVALID_ARGUMENT",
      `A field of type ${field.type} does not accept text. Click it instead.`,
    );
  }
  if (field.readOnly) {
    throw failure("ERR_ELEMENT_DISABLED", "This field is read-only.");
  }
  if (field.maxLength >= 0 && value.length > field.maxLength) {
    throw failure(
      "ERR_INVALID_ARGUMENT",
      `This field accepts at most ${field.maxLength} characters.`,
    );
  }
  field.focus({ preventScroll: true });
  const before = field.value;
  field.value = value;
  // Dates, numbers and colors are emptied by what they cannot hold.
  if (value !== "" && field.value === "") {
    field.value = before;
    throw failure(
      "ERR_INVALID_ARGUMENT",
      "This field does not accept this value.",
    );
  }
  changed(field);
}

function choose(field: HTMLSelectElement, value: string): void {
  const options = [...field.options];
  const chosen =
    options.find((option) => option.value === value) ??
    options.find((option) => option.text.trim() === value.trim());
  if (!chosen) {
    throw failure("ERR_INVALID_ARGUMENT", "This list has no such option.");
  }
  if (chosen.matches(":disabled")) {
    throw failure("ERR_ELEMENT_DISABLED", "This option is disabled.");
  }
  field.focus({ preventScroll: true });
  field.value = chosen.value;
  changed(field);
}

/** Dispatches the events of typing. */
function changed(element: Element): void {
  const options = { bubbles: true, composed: true };
  element.dispatchEvent(
    new InputEvent("input", { ...options, inputType: "insertReplacementText" }),
  );
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

/** The element, if a person could use it now. */
function reachable(target: string): Element {
  const element = elements.find(target);
  if (!isShown(element)) {
    throw failure("ERR_ELEMENT_HIDDEN", "This element is not visible.");
  }
  if (isDisabled(element)) {
    throw failure("ERR_ELEMENT_DISABLED", "This element is disabled.");
  }
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y } = pointIn(element);
  const hit = elementAt(x, y);
  const label = hit?.closest("label");
  const isHit =
    hit !== null && (element.contains(hit) || label?.control === element);
  if (!isHit) {
    throw failure(
      "ERR_ELEMENT_HIDDEN",
      "This element is covered by another element or outside the viewport.",
    );
  }
  return element;
}

/** The middle of the first line that the element takes. */
function pointIn(element: Element): { x: number; y: number } {
  const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

/** What is on top there, whatever an element of the page is named. */
function elementAt(x: number, y: number): Element | null {
  const name = "elementFromPoint";
  const find = Object.getOwnPropertyDescriptor(Document.prototype, name)
    ?.value as (this: Document, x: number, y: number) => Element | null;
  return find.call(document, x, y);
}
