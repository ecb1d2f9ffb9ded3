// The editor of a form.
import { button, make } from "./elements.ts";
import {
  hasOptions,
  moved,
  nameFor,
  TYPES,
  type Field,
  type FieldType,
  type Form,
} from "./form.ts";

/** Draws an editor of `form` into `box`, and calls `changed` after each change. */
export function build(
  box: HTMLElement,
  form: Form,
  changed: () => void,
  say: (words: string) => void,
): void {
  const title = line("Form title", form.title, (value) => {
    form.title = value;
    changed();
  });
  const about = line("Description", form.description, (value) => {
    form.description = value;
    changed();
  });
  const list = make("ol", { class: "fields", "aria-label": "Fields" });
  const type = make("select", { id: "new-type" });
  for (const [value, words] of Object.entries(TYPES)) {
    type.append(new Option(words, value));
  }
  const add = make(
    "form",
    { class: "row add" },
    make("label", { for: "new-type" }, "New field"),
    type,
    make("button", { type: "submit", class: "primary" }, "Add field"),
  );
  add.addEventListener("submit", (event) => {
    event.preventDefault();
    const kind = type.value as FieldType;
    form.fields.push(newField(form, kind));
    redraw(form.fields.length - 1, "label");
    say(`${TYPES[kind]} was added.`);
  });
  box.replaceChildren(title, about, list, add);

  function redraw(focus?: number, what = "move"): void {
    list.replaceChildren(...form.fields.map(drawField));
    changed();
    if (focus === undefined) return;
    const item = list.children[focus];
    const wanted = item?.querySelector<HTMLInputElement>(`[data-${what}]`);
    wanted?.focus();
    if (what === "label") wanted?.select();
  }

  function drawField(field: Field, at: number): HTMLElement {
    const place = `field ${at + 1}`;
    const label = line("Label", field.label, (value) => {
      field.label = value;
      changed();
    });
    label.querySelector("input")?.setAttribute("data-label", "");
    const parts: HTMLElement[] = [label];
    if (hasOptions(field.type)) {
      const area = make("textarea", { rows: 3 });
      area.value = field.options.join("\n");
      area.addEventListener("input", () => {
        const lines = area.value.split("\n").map((each) => each.trim());
        field.options = [...new Set(lines.filter(Boolean))];
        changed();
      });
      parts.push(make("label", {}, "Options, one on each line", area));
    }
    parts.push(
      line("Help", field.help, (value) => {
        field.help = value;
        changed();
      }),
    );
    const needed = make("input", { type: "checkbox", checked: field.required });
    needed.addEventListener("change", () => {
      field.required = needed.checked;
      changed();
    });
    const shift = (by: number) => {
      form.fields = moved(form.fields, at, by);
      redraw(at + by);
      say(`${field.label} is now field ${at + by + 1}.`);
    };
    const tools = make(
      "p",
      { class: "row" },
      make("label", { class: "tick" }, needed, " Required"),
      make("span", { class: "spring" }),
      button("↑", () => shift(-1), {
        "aria-label": `Move ${place} up`,
        "data-move": true,
        disabled: at === 0,
      }),
      button("↓", () => shift(1), {
        "aria-label": `Move ${place} down`,
        "data-move": at === 0,
        disabled: at === form.fields.length - 1,
      }),
      button(
        "Remove",
        () => {
          form.fields.splice(at, 1);
          redraw(Math.min(at, form.fields.length - 1), "label");
          say(`${field.label} was removed.`);
        },
        { "aria-label": `Remove ${place}` },
      ),
    );
    return make(
      "li",
      {},
      make("p", { class: "kind" }, TYPES[field.type]),
      ...parts,
      tools,
    );
  }

  redraw();
}

function newField(form: Form, type: FieldType): Field {
  const label = TYPES[type];
  const taken = new Set(form.fields.map(({ name }) => name));
  return {
    name: nameFor(label, taken),
    label,
    type,
    help: "",
    required: false,
    options: hasOptions(type) ? ["First", "Second"] : [],
    min: null,
    max: null,
  };
}

function line(
  words: string,
  value: string,
  set: (value: string) => void,
): HTMLLabelElement {
  const input = make("input", { type: "text", maxlength: 300 });
  input.value = value;
  input.addEventListener("input", () => set(input.value.trim()));
  return make("label", {}, words, input);
}
