// Draws the board, and moves cards by pointer and by keyboard.
import { invokeAgent, onStateUpdate, setAppletState } from "gangway";
import { newCard, place, read, stored } from "./board.js";

const $ = (id) => document.getElementById(id);
const board = $("board");
let columns = read({});
let drag = null;
let removed = null;

function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function say(message, action) {
  $("status").replaceChildren(message);
  if (action) $("status").append(" ", action);
}

async function save(patch, message = "") {
  try {
    await setAppletState(patch);
    if (message) say(message);
  } catch (error) {
    say(error.message);
  }
}

function draw() {
  // A card that is being dragged must stay the element it is.
  if (drag) return;
  const focus = document.activeElement;
  const focused = focus?.closest("[data-card]")?.dataset.card;
  const adding = focus?.matches(".add input")
    ? focus.closest("[data-column]").dataset.column
    : null;
  const drafts = new Map(
    [...board.querySelectorAll("[data-column]")].map((column) => [
      column.dataset.column,
      column.querySelector(".add input").value,
    ]),
  );
  board.replaceChildren(
    ...columns.map((column) => drawColumn(column, drafts.get(column.name))),
  );
  if (focused) find(focused)?.focus();
  if (adding !== null) {
    const again = [...board.children].find(
      ({ dataset }) => dataset.column === adding,
    );
    again?.querySelector(".add input").focus();
  }
}

const find = (id) => board.querySelector(`[data-card="${CSS.escape(id)}"]`);

function drawColumn({ name, cards }, draft = "") {
  const input = make("input", {
    value: draft,
    placeholder: "Add a card",
    maxLength: 300,
    "aria-label": `Add a card to ${name}`,
  });
  const form = make("form", { className: "add", autocomplete: "off" }, input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const title = input.value.trim();
    if (title === "") return;
    input.value = "";
    save(newCard(columns, name, title));
  });
  const list = make("ul", { className: "cards" }, ...cards.map(drawCard));
  const head = make(
    "h2",
    {},
    name,
    " ",
    make("span", { className: "count" }, String(cards.length)),
  );
  const section = make(
    "section",
    { className: "column", "aria-label": name },
    head,
    list,
    form,
  );
  section.dataset.column = name;
  return section;
}

function drawCard(card) {
  const element = make("li", {
    className: "card",
    tabIndex: 0,
    "aria-describedby": "hint",
    "aria-label": card.title,
    "aria-roledescription": "card",
  });
  element.dataset.card = card.id;
  element.append(make("p", {}, card.title));
  if (card.note) element.append(make("p", { className: "note" }, card.note));
  if (card.by && card.by !== "person") {
    element.append(make("p", { className: "by" }, card.by));
  }
  element.addEventListener("keydown", (event) => onKey(event, card));
  element.addEventListener("pointerdown", (event) =>
    grab(event, card, element),
  );
  element.addEventListener("dblclick", () => edit(card));
  return element;
}

function move(card, columnName, index) {
  const patch = place(columns, card, columnName, index);
  // Shown at once; the answer of the server follows.
  const state = { columns: columns.map(({ name }) => name) };
  for (const column of columns) {
    for (const each of column.cards) state[each.key] = stored(each);
  }
  columns = read({ ...state, ...patch });
  draw();
  save(patch, `${card.title}: ${columnName}, place ${index + 1}.`);
}

function onKey(event, card) {
  const at = columns.findIndex(({ name }) => name === card.column);
  const { cards } = columns[at];
  const index = cards.findIndex(({ id }) => id === card.id);
  const { key } = event;
  if (key === "Enter" || key === " ") edit(card);
  else if (key === "Delete" || key === "Backspace") remove(card);
  else if (event.altKey && (key === "ArrowLeft" || key === "ArrowRight")) {
    const to = columns[at + (key === "ArrowLeft" ? -1 : 1)];
    if (!to) return;
    move(card, to.name, Math.min(index, to.cards.length));
  } else if (event.altKey && (key === "ArrowUp" || key === "ArrowDown")) {
    const to = index + (key === "ArrowUp" ? -1 : 1);
    if (to < 0 || to >= cards.length) return;
    move(card, card.column, to);
  } else if (key === "ArrowUp" || key === "ArrowDown") {
    const next = cards[index + (key === "ArrowUp" ? -1 : 1)];
    if (next) find(next.id)?.focus();
  } else if (key === "ArrowLeft" || key === "ArrowRight") {
    const step = key === "ArrowLeft" ? -1 : 1;
    for (let to = at + step; columns[to]; to += step) {
      const next =
        columns[to].cards[Math.min(index, columns[to].cards.length - 1)];
      if (next) {
        find(next.id)?.focus();
        break;
      }
    }
  } else return;
  event.preventDefault();
}

function grab(event, card, element) {
  if (event.button !== 0) return;
  const box = element.getBoundingClientRect();
  const start = { x: event.clientX, y: event.clientY };
  const touch = event.pointerType === "touch";
  let lifted = false;
  // A finger scrolls unless it rests first.
  let rested = !touch;
  const rest = setTimeout(() => (rested = true), 250);

  const onMove = (moved) => {
    const far = Math.hypot(moved.clientX - start.x, moved.clientY - start.y);
    if (!lifted) {
      if (far < 5) return;
      if (!rested) return end();
      lifted = true;
      element.setPointerCapture(event.pointerId);
      drag = { gap: make("li", { className: "gap", ariaHidden: "true" }) };
      drag.gap.style.height = `${box.height}px`;
      element.style.width = `${box.width}px`;
      element.classList.add("lifted");
    }
    element.style.left = `${box.left + moved.clientX - start.x}px`;
    element.style.top = `${box.top + moved.clientY - start.y}px`;
    hover(moved, element);
  };
  const onUp = () => {
    const { gap } = drag ?? {};
    const column = gap?.closest("[data-column]");
    let index = 0;
    if (column) {
      const items = [...column.querySelectorAll(".cards > li")].filter(
        (item) => item !== element,
      );
      index = items.indexOf(gap);
    }
    end();
    if (column) {
      move(card, column.dataset.column, index);
      find(card.id)?.focus();
    }
  };
  const end = () => {
    clearTimeout(rest);
    stop.abort();
    drag?.gap.remove();
    const moved = drag !== null;
    drag = null;
    if (moved) draw();
  };
  const stop = new AbortController();
  const { signal } = stop;
  document.addEventListener("pointermove", onMove, { signal });
  document.addEventListener("pointerup", onUp, { signal });
  document.addEventListener("pointercancel", end, { signal });
  element.addEventListener(
    "touchmove",
    (touched) => rested && touched.preventDefault(),
    { signal, passive: false },
  );
  document.addEventListener("keydown", ({ key }) => key === "Escape" && end(), {
    signal,
  });
}

/** Opens a gap where the card would land. */
function hover({ clientX, clientY }, element) {
  const column = [...board.children].find((each) => {
    const { left, right } = each.getBoundingClientRect();
    return clientX >= left && clientX <= right;
  });
  const list = column?.querySelector(".cards");
  if (!list) return;
  const after = [...list.children].find((item) => {
    if (item === element || item === drag.gap) return false;
    const { top, height } = item.getBoundingClientRect();
    return clientY < top + height / 2;
  });
  list.insertBefore(drag.gap, after ?? null);
}

function edit(card) {
  $("card-title").value = card.title;
  $("card-note").value = card.note;
  $("card-column").replaceChildren(
    ...columns.map(({ name }) =>
      make("option", { value: name, selected: name === card.column }, name),
    ),
  );
  const editor = $("editor");
  $("remove").onclick = () => {
    editor.close();
    remove(card);
  };
  editor.onclose = () => {
    if (editor.returnValue === "save") change(card);
    editor.returnValue = "";
    find(card.id)?.focus();
  };
  editor.showModal();
}

function change(card) {
  const title = $("card-title").value.trim();
  const column = $("card-column").value;
  // What somebody else did to the card meanwhile stays, but for what was edited here.
  const now =
    columns.flatMap(({ cards }) => cards).find(({ id }) => id === card.id) ??
    card;
  const changed = {
    ...now,
    title: title || now.title,
    note: $("card-note").value.trim(),
  };
  if (column === card.column) save({ [card.key]: stored(changed) });
  else
    move(
      changed,
      column,
      columns.find(({ name }) => name === column).cards.length,
    );
}

function remove(card) {
  removed = card;
  save({ [card.key]: null });
  const undo = make("button", { type: "button" }, "Undo");
  undo.addEventListener("click", () => {
    if (removed)
      save({ [removed.key]: stored(removed) }, `${removed.title} restored.`);
    removed = null;
  });
  say(`${card.title} was removed.`, undo);
}

$("plan").addEventListener("submit", async (event) => {
  event.preventDefault();
  const goal = $("goal").value.trim();
  if (goal === "") return;
  say("Asking the agent…");
  try {
    await invokeAgent(
      `Plan this on the task board: ${goal}\n\nAdd three to seven cards with set_applet_state for the applet task-board: one key card.<id> per card, each {title, column, order, note, by: "agent"}, in the column “${columns[0].name}”. Then say in one sentence what you planned.`,
      { waitForResult: false },
    );
    $("goal").value = "";
    say("The agent is planning…");
  } catch (error) {
    say(
      error.code === "consent_denied"
        ? "You denied this applet permission to send messages."
        : error.message,
    );
  }
});

onStateUpdate(
  (state) => {
    columns = read(state);
    draw();
  },
  { own: true },
);
draw();
