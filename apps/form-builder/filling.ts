// A form to fill in.
import { make } from "./elements.ts";
import {
  problemOf,
  problemsOf,
  ratingSteps,
  type Answer,
  type Answers,
  type Field,
  type Form,
} from "./form.ts";

export interface FillingEvents {
  changed: (field: Field, answer: Answer, valid: boolean) => void;
  submitted: (answers: Answers) => void;
}

/** Draws `form` into `box`; `answers` is changed as the person answers. */
export function fill(
  box: HTMLElement,
  form: Form,
  answers: Answers,
  events: FillingEvents,
): void {
  const parts = form.fields.map((field) => ({
    field,
    element: drawField(field, answers, events),
  }));
  const submit = make(
    "button",
    { type: "submit", class: "primary" },
    form.submit || "Send",
  );
  const drawn = make(
    "form",
    { novalidate: true, "aria-labelledby": "form-title", autocomplete: "off" },
    ...parts.map(({ element }) => element),
    make("p", { class: "row end" }, submit),
  );
  drawn.addEventListener("submit", (event) => {
    event.preventDefault();
    const problems = problemsOf(form, answers);
    for (const { field, element } of parts) {
      mark(element, problems.get(field.name) ?? null);
    }
    const wrong = parts.find(({ field }) => problems.has(field.name));
    if (wrong) {
      wrong.element
        .querySelector<HTMLElement>("input, textarea, select")
        ?.focus();
    } else events.submitted({ ...answers });
  });
  box.replaceChildren(
    make("h2", { id: "form-title" }, form.title || "Form"),
    ...(form.description
      ? [make("p", { class: "quiet lead" }, form.description)]
      : []),
    drawn,
  );
}

function drawField(
  field: Field,
  answers: Answers,
  events: FillingEvents,
): HTMLElement {
  const id = `f-${field.name}`;
  const words = `${id}-words`;
  const set = (answer: Answer) => {
    answers[field.name] = answer;
    const problem = problemOf(field, answer);
    // A complaint goes away when it is met; a new one waits until the form is sent.
    if (problem === null) mark(element, null);
    events.changed(field, answer, problem === null);
  };
  const star = field.required
    ? [make("span", { class: "star", "aria-hidden": "true" }, " *")]
    : [];
  const notes = make(
    "div",
    { id: words },
    ...(field.help ? [make("p", { class: "quiet" }, field.help)] : []),
    make("p", { class: "problem", role: "alert" }),
  );
  const common = {
    id,
    name: id,
    required: field.required,
    "aria-describedby": words,
  };
  const answer = answers[field.name] ?? null;
  let element: HTMLElement;
  if (field.type === "choice" || field.type === "rating") {
    const options =
      field.type === "choice" ? field.options : ratingSteps(field).map(String);
    element = group(field, star, notes);
    const list = make("div", {
      class: field.type === "rating" ? "steps" : "list",
    });
    for (const option of options) {
      const input = make("input", {
        type: "radio",
        name: id,
        value: option,
        checked: String(answer ?? "") === option,
        "aria-describedby": words,
      });
      input.addEventListener("change", () =>
        set(field.type === "rating" ? Number(option) : option),
      );
      list.append(make("label", {}, input, ` ${option}`));
    }
    element.insertBefore(list, notes);
  } else if (field.type === "choices") {
    element = group(field, star, notes);
    const list = make("div", { class: "list" });
    for (const option of field.options) {
      const input = make("input", {
        type: "checkbox",
        value: option,
        checked: Array.isArray(answer) && answer.includes(option),
        "aria-describedby": words,
      });
      input.addEventListener("change", () => {
        const boxes = list.querySelectorAll<HTMLInputElement>("input:checked");
        set([...boxes].map(({ value }) => value));
      });
      list.append(make("label", {}, input, ` ${option}`));
    }
    element.insertBefore(list, notes);
  } else if (field.type === "yes-no") {
    const input = make("input", {
      ...common,
      type: "checkbox",
      checked: answer === true,
    });
    input.addEventListener("change", () => set(input.checked));
    const label = make("label", { class: "tick" }, input, ` ${field.label}`);
    label.append(...star);
    element = make("div", { class: "field" }, label, notes);
  } else {
    const input =
      field.type === "long-text"
        ? make("textarea", { ...common, rows: 4 })
        : make("input", {
            ...common,
            type: field.type,
            ...(field.type === "number" && { step: "any" }),
          });
    input.value = answer === null ? "" : String(answer);
    input.addEventListener("input", () => {
      const { value } = input;
      if (field.type !== "number") set(value === "" ? null : value);
      else set(value === "" ? null : Number(value));
    });
    const label = make("label", { for: id }, field.label, ...star);
    element = make("div", { class: "field" }, label, input, notes);
  }
  return element;
}

function group(field: Field, star: Node[], notes: HTMLElement): HTMLElement {
  const legend = make("legend", {}, field.label);
  legend.append(...star);
  return make("fieldset", { class: "field" }, legend, notes);
}

function mark(element: HTMLElement, problem: string | null): void {
  const box = element.querySelector(".problem");
  if (box) box.textContent = problem ?? "";
  element.classList.toggle("wrong", problem !== null);
  for (const input of element.querySelectorAll("input, textarea")) {
    if (problem === null) input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
  }
}
