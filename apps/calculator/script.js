// Keys and display, the list of earlier results, and the agent's explanation.
import { invokeAgent, onStateUpdate, setAppletState } from "gangway";
import { evaluate, ExpressionError, format } from "./expression.js";

const KEPT = 50;
const KEYS = [
  ["C", "clear"],
  ["(", "open bracket"],
  [")", "close bracket"],
  ["÷", "divide"],
  ["7"],
  ["8"],
  ["9"],
  ["×", "times"],
  ["4"],
  ["5"],
  ["6"],
  ["−", "minus"],
  ["1"],
  ["2"],
  ["3"],
  ["+", "plus"],
  ["0"],
  [".", "point"],
  ["^", "to the power of"],
  ["√", "square root"],
  ["π", "pi"],
  ["%", "percent"],
  ["⌫", "delete the last character"],
  ["=", "equals"],
];

const $ = (id) => document.getElementById(id);
const entry = $("entry");
let history = [];
let asking = null;

for (const [sign, name] of KEYS) {
  const key = document.createElement("button");
  key.type = "button";
  key.textContent = sign;
  if (name) key.setAttribute("aria-label", name);
  if (/[÷×−+^√π%()]/.test(sign)) key.className = "sign";
  if (sign === "=") key.className = "primary";
  key.addEventListener("click", () => press(sign));
  $("keys").append(key);
}

function press(sign) {
  if (sign === "=") return finish();
  if (sign === "C") entry.value = "";
  else if (sign === "⌫") entry.value = entry.value.slice(0, -1);
  else {
    const start = entry.selectionStart ?? entry.value.length;
    const end = entry.selectionEnd ?? start;
    entry.setRangeText(sign === "√" ? "√(" : sign, start, end, "end");
  }
  show();
}

function last() {
  return history[0] ? Number(history[0].result.replace("−", "-")) : 0;
}

/** Evaluates the display; incomplete input is no error. */
function work() {
  const text = entry.value.trim();
  if (text === "") return { text: "" };
  try {
    return { text: format(evaluate(text, last())), done: true };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const unfinished = error.at >= text.length;
    return { text: unfinished ? "…" : error.message, error };
  }
}

function show(insist = false) {
  const { text, error, done } = work();
  const output = $("result");
  output.textContent =
    insist && error ? error.message : done ? `= ${text}` : text;
  output.classList.toggle(
    "problem",
    Boolean(error) && (insist || text !== "…"),
  );
  entry.setAttribute("aria-invalid", String(Boolean(error) && insist));
  $("explain").disabled = !done || asking !== null;
}

function finish() {
  const expression = entry.value.trim();
  const { text: result, error, done } = work();
  if (error) {
    show(true);
    entry.focus();
    entry.setSelectionRange(error.at, error.at);
    return;
  }
  if (!done) return;
  const same =
    history[0]?.expression === expression && history[0]?.result === result;
  if (!same) history = [{ expression, result }, ...history].slice(0, KEPT);
  entry.value = result;
  entry.select();
  list();
  show();
  save({ history, expression: result });
}

function save(data) {
  setAppletState(data).catch((error) => say(error.message));
}

function say(text) {
  $("explanation").hidden = false;
  $("status").textContent = text;
}

function list() {
  $("empty").hidden = history.length > 0;
  $("clear").hidden = history.length === 0;
  $("history").replaceChildren(
    ...history.map(({ expression, result }) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      const left = document.createElement("span");
      left.textContent = expression;
      const right = document.createElement("strong");
      right.textContent = `= ${result}`;
      button.append(left, " ", right);
      button.addEventListener("click", () => {
        entry.value = expression;
        entry.focus();
        show();
      });
      item.append(button);
      return item;
    }),
  );
}

async function explain() {
  const expression = entry.value.trim();
  const { text: result, done } = work();
  if (!done || asking) return;
  asking = new AbortController();
  show();
  $("stop").hidden = false;
  $("explained").textContent = `${expression} = ${result}`;
  $("answer").textContent = "";
  say("Asking the agent…");
  try {
    const text = await invokeAgent(
      `Explain briefly, step by step, why ${expression} = ${result}.`,
      {
        signal: asking.signal,
        onDelta: (delta) => {
          $("status").textContent = "The agent is writing…";
          $("answer").textContent += delta;
        },
      },
    );
    $("answer").textContent = text;
    $("status").textContent = "";
    save({ explanation: { expression, text } });
  } catch (error) {
    const denied = error.code === "consent_denied";
    $("status").textContent =
      error.name === "AbortError"
        ? "Stopped."
        : denied
          ? "You denied this applet permission to send messages."
          : error.message;
  } finally {
    asking = null;
    $("stop").hidden = true;
    show();
  }
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  finish();
});
entry.addEventListener("input", () => show());
entry.addEventListener("keydown", (event) => {
  if (event.key === "Escape") press("C");
});
$("explain").addEventListener("click", explain);
$("stop").addEventListener("click", () => asking?.abort());
$("clear").addEventListener("click", () => {
  history = [];
  list();
  save({ history });
});

let shown = "";
onStateUpdate(
  (state) => {
    history = (Array.isArray(state.history) ? state.history : [])
      .filter(
        (item) =>
          typeof item?.expression === "string" &&
          typeof item?.result === "string",
      )
      .slice(0, KEPT);
    list();
    // Only what changed takes over the display: a person may be typing.
    if (typeof state.expression === "string" && state.expression !== shown) {
      shown = state.expression;
      entry.value = shown.slice(0, 500);
    }
    const { explanation } = state;
    if (!asking && typeof explanation?.text === "string") {
      $("explanation").hidden = false;
      $("explained").textContent = String(
        explanation.expression ?? "Explanation",
      );
      $("answer").textContent = explanation.text;
    }
    show();
  },
  { own: true },
);
entry.focus();
