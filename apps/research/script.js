// The form, the run, and its events on the page.
import { SEARCH_LOG } from "./log.js";
import { byServer, fold, optionsFrom, since } from "./timeline.js";
import {
  NO_GANGWAY,
  plainWords,
  refusedWords,
} from "./__gangway/vendor/plain-words.js";

const $ = (id) => document.getElementById(id);
const ALLOW = ["model:tools", "mcp:tools.call"];

let stop = null;

function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, props);
  element.append(...children);
  return element;
}

function say(words, problem = false) {
  $("status").textContent = words;
  $("status").classList.toggle("problem", problem);
}

function busy(is) {
  $("go").disabled = is;
  $("list").disabled = is;
  $("stop").hidden = !is;
  if (is) $("stop").focus();
  else if (document.activeElement === document.body) $("go").focus();
}

/** Asks for leave; whether there is some. */
async function allowed(request) {
  say("Gangway asks for permission in a separate window.");
  const answer = await agent.requestPermissions(request);
  say(answer.granted ? "" : refusedWords(answer), !answer.granted);
  return answer.granted;
}

/** One thing at a time; whatever goes wrong is said. */
async function run(work) {
  if (!window.agent) {
    say(NO_GANGWAY, true);
    return;
  }
  stop = new AbortController();
  busy(true);
  try {
    await work(stop.signal);
  } catch (error) {
    say(plainWords(error), error.code !== "ERR_ABORTED");
  } finally {
    busy(false);
  }
}

async function list(signal) {
  const request = {
    scopes: ["mcp:tools.list"],
    reason: "To list your tools so that you can select some.",
  };
  if (!(await allowed({ ...request, signal }))) return;
  const tools = await agent.tools.list({ signal });
  $("tools").hidden = false;
  $("tools").replaceChildren(
    ...byServer(tools).map(([server, tools]) =>
      make(
        "fieldset",
        {},
        make("legend", {}, server === "page" ? "This page" : server),
        ...tools.map(({ name, description }) => {
          const box = make("input", { type: "checkbox", name: "tool" });
          box.value = name;
          const short = name.split("/").slice(1).join("/");
          const words = make("span", { className: "quiet" }, description ?? "");
          return make(
            "label",
            { className: "line" },
            box,
            make("span", {}, make("b", {}, short), words),
          );
        }),
      ),
    ),
  );
  say(tools.length === 1 ? "One tool." : `${tools.length} tools.`);
}

function readForm() {
  const form = new FormData($("ask"));
  return {
    task: form.get("task"),
    which: form.get("which"),
    ticked: form.getAll("tool"),
    calls: Number(form.get("calls")),
    cite: form.has("cite"),
  };
}

async function research(signal) {
  const options = optionsFrom(readForm());
  if (options.tools?.length === 0) {
    say("Select a tool first, or choose tools by the task.", true);
    return;
  }
  // The page's own tool needs nobody's leave.
  const tools = options.tools?.filter((name) => !name.startsWith("page/"));
  const request = {
    scopes: ALLOW,
    reason: "To answer your question with your model and your tools.",
    ...(tools && { tools }),
  };
  if (!(await allowed({ ...request, signal }))) return;
  begin();
  for await (const event of agent.run({ ...options, signal })) {
    show(event);
    if (event.type === "final") finish(event);
    if (event.type === "error") throw event.error;
  }
}

let entries = [];
let events = 0;
let began = 0;

function begin() {
  [entries, events, began] = [[], 0, performance.now()];
  $("events").replaceChildren();
  $("none").hidden = true;
  $("count").textContent = "";
  $("answer").hidden = true;
  $("output").textContent = "";
  say("Working…");
}

const MARKS = {
  status: "…",
  words: "✎",
  call: "→",
  result: "←",
  failed: "!",
  final: "✓",
};
const MEANING = {
  status: "Status",
  words: "Text",
  call: "Tool call",
  result: "Result of",
  failed: "Failed",
  final: "Done",
};

function show(event) {
  const before = entries;
  entries = fold(entries, event, performance.now() - began);
  events += 1;
  $("count").textContent = String(events);
  const last = entries.at(-1);
  if (entries.length > before.length) $("events").append(item(last));
  else if (last?.kind === "words") {
    const words = $("events").lastElementChild;
    words.querySelector(".text").textContent = last.text;
    words.querySelector(".parts").textContent = `${last.parts} chunks`;
  }
}

function item({ kind, title, text, detail, parts, at }) {
  const head = make(
    "p",
    { className: "head" },
    make("span", { className: "kind" }, MEANING[kind]),
    " ",
    make("b", {}, title),
    " ",
    make("span", { className: "parts quiet" }, parts ? "1 chunk" : ""),
    make("span", { className: "at quiet" }, since(at)),
  );
  const mark = make("span", { className: "mark" }, MARKS[kind]);
  mark.setAttribute("aria-hidden", "true");
  const body = make("div", {}, head);
  if (text !== undefined) {
    body.append(make("p", { className: "text" }, text));
  }
  if (detail) {
    const words = kind === "call" ? "with" : "said";
    const open = kind === "failed";
    body.append(
      make(
        "details",
        { open },
        make("summary", {}, words),
        make("pre", { tabIndex: 0 }, detail),
      ),
    );
  }
  return make("li", { className: kind }, mark, body);
}

function finish({ output, citations = [] }) {
  $("answer").hidden = false;
  $("output").textContent = output;
  $("sources").hidden = $("sources-title").hidden = citations.length === 0;
  $("sources").replaceChildren(
    ...citations.map(({ ref, excerpt }) =>
      make("li", {}, make("b", {}, ref), make("blockquote", {}, excerpt)),
    ),
  );
  say("Done.");
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  void run(research);
});
$("list").addEventListener("click", () => void run(list));
$("stop").addEventListener("click", () => stop.abort());
$("tools").addEventListener("change", () => {
  $("ask").elements.which.value = "ticked";
});

if (!window.agent) say(NO_GANGWAY);
await document.modelContext?.registerTool(SEARCH_LOG);
