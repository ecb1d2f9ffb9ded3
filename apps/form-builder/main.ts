// Shows the agent's form, or lets the person build one.
import {
  AgentError,
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
} from "./__gangway/agent.js";
import { build } from "./building.ts";
import { button, find, make } from "./elements.ts";
import { fill } from "./filling.ts";
import {
  carryOver,
  emptyForm,
  nameFor,
  readForm,
  writeForm,
  type Answer,
  type Answers,
  type Field,
  type Form,
} from "./form.ts";

// Changes are reported when typing pauses, not for every letter.
const PAUSE_MS = 400;
const FILE_BYTES = 1 << 20;
const KEPT = "form-builder.form";

const context = getAgentContext();
const page = find("page");
const waiting = new Map<string, ReturnType<typeof setTimeout>>();
let form: Form = emptyForm();
let answers: Answers = {};
let filling = false;

function say(words: string, problem = false): void {
  const status = find("status");
  status.textContent = words;
  status.classList.toggle("problem", problem);
}

async function tell(event: string, payload: unknown): Promise<boolean> {
  try {
    return await emitToAgent(event, payload);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    say(`The agent could not be notified: ${error.message}`, true);
    return false;
  }
}

function changed(field: Field, value: Answer, valid: boolean): void {
  clearTimeout(waiting.get(field.name));
  const timer = setTimeout(() => {
    waiting.delete(field.name);
    void tell("answer-changed", { field: field.name, value, valid });
  }, PAUSE_MS);
  waiting.set(field.name, timer);
}

async function submitted(given: Answers): Promise<void> {
  for (const timer of waiting.values()) clearTimeout(timer);
  waiting.clear();
  say("Sending…");
  const payload = { title: form.title, answers: given };
  if (!(await tell("form-submitted", payload))) {
    if (!context) {
      download("answers.json", payload);
      say("The answers were downloaded.");
    }
    return;
  }
  say("");
  page.replaceChildren(
    make("h2", { id: "done", tabindex: -1 }, "Thank you"),
    make("p", {}, "Your answers were sent to the agent."),
    make(
      "p",
      {},
      button("Change an answer", () => showForm()),
    ),
  );
  find("done").focus();
}

function showForm(): void {
  filling = true;
  fill(page, form, answers, {
    changed,
    submitted: (given) => void submitted(given),
  });
}

function take(given: unknown, before: unknown): void {
  const read = readForm(given);
  form = read.form;
  answers = carryOver(form, before);
  say(read.problems.join(" "), read.problems.length > 0);
  showForm();
}

function download(filename: string, value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  const url = URL.createObjectURL(
    new Blob([text], { type: "application/json" }),
  );
  make("a", { href: url, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function keep(): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(writeForm(form)));
  } catch {
    // Without storage the form lasts as long as the page.
  }
}

function kept(): unknown {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

/** Field names follow the labels until the form is used. */
function named(): Form {
  const taken = new Set<string>();
  const fields = form.fields.map((field) => {
    const name = nameFor(field.label, taken);
    taken.add(name);
    return { ...field, name };
  });
  return { ...form, fields };
}

function showBuilder(): void {
  filling = false;
  const editor = make("section", { "aria-label": "Form editor" });
  const tried = make("section", { "aria-label": "Preview", class: "preview" });
  const preview = () => {
    keep();
    const shown = named();
    fill(tried, shown, carryOver(shown, {}), {
      changed: () => undefined,
      submitted: (given) =>
        say(`Would send ${JSON.stringify(given)}`.slice(0, 300)),
    });
  };
  const file = make("input", {
    type: "file",
    accept: ".json,application/json",
    "aria-label": "Open a form",
  });
  file.addEventListener("change", () => void open(file));
  const tools = make(
    "p",
    { class: "row" },
    button("Save as JSON", () => {
      download("form.json", writeForm(named()));
      say("The form was downloaded.");
    }),
    make("label", { class: "file" }, "Open a form", file),
    button("Start over", () => {
      form = emptyForm();
      keep();
      showBuilder();
      say("A new form.");
    }),
    ...(context
      ? [button("Send to the agent", () => void hand(), { class: "primary" })]
      : []),
  );
  page.replaceChildren(
    make("h2", {}, "Build a form"),
    tools,
    make("div", { class: "split" }, editor, tried),
  );
  build(editor, form, preview, say);
}

async function hand(): Promise<void> {
  if (form.fields.length === 0) {
    say("Add a field first.", true);
    return;
  }
  if (await tell("form-built", { form: writeForm(named()) })) {
    say("The form was sent to the agent.");
  }
}

async function open(input: HTMLInputElement): Promise<void> {
  const [file] = input.files ?? [];
  if (!file) return;
  try {
    if (file.size > FILE_BYTES) throw new Error("it is larger than 1 MB");
    const { form: read, problems } = readForm(JSON.parse(await file.text()));
    form = read;
    showBuilder();
    say(problems.join(" "), problems.length > 0);
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    say(`The file could not be read: ${why}`, true);
  }
}

function applyTheme(theme: unknown): void {
  if (theme === "light" || theme === "dark" || theme === "auto") {
    document.documentElement.dataset["theme"] = theme;
  }
}

applyTheme(getAgentConfig<unknown>("theme", "auto"));
const given = getAgentData<unknown>("form", null);
if (context) find("from").textContent = `Prepared by ${context.agent.name}`;
if (given !== null) take(given, getAgentData<unknown>("answers", {}));
else {
  const before = kept();
  if (before !== null) form = readForm(before).form;
  showBuilder();
}

context?.on("form-updated", (news) => {
  const next = (news as { form?: unknown } | null)?.form;
  if (next === undefined) return;
  take(next, filling ? answers : {});
  if (find("status").textContent === "") say("The agent changed the form.");
});
context?.on("config-updated", (config) =>
  applyTheme((config as { theme?: unknown } | null)?.theme),
);
