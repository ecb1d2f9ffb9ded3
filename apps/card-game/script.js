// Shows the table, handles moves by mouse and keyboard, and reports the result to the agent.
import {
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
} from "./__gangway/agent.js";
import {
  cardsLeft,
  deal,
  draw,
  hint,
  isLevel,
  isOver,
  isWon,
  lastOf,
  nameOf,
  play,
  playable,
  rankOf,
  suitOf,
  topOf,
  undo,
} from "./golf.js";

const $ = (id) => document.getElementById(id);
const RANKS = [
  "A",
  "2",
  "3",
  "4",
  "5",
  "6",
  "7",
  "8",
  "9",
  "10",
  "J",
  "Q",
  "K",
];
// The last character asks for text instead of a coloured picture.
const SUITS = ["♣\uFE0E", "♦\uFE0E", "♥\uFE0E", "♠\uFE0E"];

const context = getAgentContext();
let game;
let focused = 0;
let hinted = null;
let began = null;
let ended = null;

const say = (words) => ($("status").textContent = words);

function tell(event, payload) {
  emitToAgent(event, payload).catch((error) => {
    console.warn(`${event} did not reach the agent: ${error.message}`);
  });
}

function start(seed, level) {
  game = deal(seed, level);
  $("level").value = level;
  [focused, hinted, began, ended] = [0, null, null, null];
  if ($("over").open) $("over").close();
  say(`The pile starts with the ${nameOf(topOf(game))}.`);
  paint();
  tell("game-started", { difficulty: level, seed });
}

function randomSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

function seconds() {
  if (began === null) return 0;
  return Math.round(((ended ?? performance.now()) - began) / 1000);
}

function move(next, words) {
  if (next === game || ended !== null) return false;
  began ??= performance.now();
  game = next;
  hinted = null;
  say(words);
  if (isOver(game)) finish();
  paint();
  return true;
}

function playColumn(at) {
  focused = at;
  const card = lastOf(game.columns[at]);
  if (card === undefined || ended !== null) return;
  const words = `You played the ${nameOf(card)}.`;
  if (!move(play(game, at), words)) {
    say(`The ${nameOf(card)} does not go on the ${nameOf(topOf(game))}.`);
  }
  focusColumn();
}

function turn() {
  const next = draw(game);
  move(next, `The ${nameOf(topOf(next))} was drawn.`);
}

function takeBack() {
  if (game.before) move(undo(game), "Move undone.");
}

function help() {
  if (ended !== null) return;
  hinted = hint(game);
  if (hinted === null) return;
  say(
    hinted === "stock"
      ? "Draw a card from the stock."
      : `Play the ${nameOf(lastOf(game.columns[hinted]))} of column ${hinted + 1}.`,
  );
  paint();
}

function finish() {
  ended = performance.now();
  const won = isWon(game);
  const left = cardsLeft(game);
  const result = {
    won,
    moves: game.moves,
    seconds: seconds(),
    difficulty: game.level,
    left,
  };
  $("over-title").textContent = won ? "You cleared the table" : "No moves left";
  $("over-words").textContent = won
    ? `In ${result.moves} moves and ${clock(result.seconds)}. Well played.`
    : `${left === 1 ? "One card remains" : `${left} cards remain`} on the table after ${clock(result.seconds)}.`;
  say($("over-title").textContent);
  $("over").returnValue = "";
  $("over").showModal();
  tell("game-over", result);
}

function clock(whole) {
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function face(element, card) {
  element.classList.add("card");
  element.classList.toggle("red", suitOf(card) === 1 || suitOf(card) === 2);
  const corner = document.createElement("span");
  corner.className = "corner";
  corner.textContent = RANKS[rankOf(card)];
  const suit = document.createElement("span");
  suit.className = "suit";
  suit.textContent = SUITS[suitOf(card)];
  element.replaceChildren(corner, suit);
  return element;
}

function paint() {
  const open = playable(game);
  const columns = game.columns.map((column, at) => {
    const box = document.createElement("div");
    box.className = "column";
    if (column.length === 0) {
      const empty = document.createElement("div");
      empty.className = "empty";
      box.append(empty);
    }
    for (const [depth, card] of column.entries()) {
      const isLast = depth === column.length - 1;
      const element = face(
        document.createElement(isLast ? "button" : "div"),
        card,
      );
      if (isLast) {
        const fits = open.includes(at);
        element.type = "button";
        element.dataset.column = at;
        element.tabIndex = at === focused ? 0 : -1;
        element.setAttribute("aria-disabled", String(!fits));
        element.setAttribute(
          "aria-label",
          `${nameOf(card)}, column ${at + 1}, ${depth} below${fits ? ", fits" : ""}`,
        );
        element.classList.toggle("shown-hint", hinted === at);
        element.addEventListener("click", () => playColumn(at));
      } else element.setAttribute("aria-hidden", "true");
      box.append(element);
    }
    return box;
  });
  const hadFocus = $("table").contains(document.activeElement);
  $("table").replaceChildren(...columns);
  if (!$("table").querySelector('[tabindex="0"]')) {
    const first = $("table").querySelector("button");
    if (first) first.tabIndex = 0;
  }
  if (hadFocus) focusColumn();
  const { stock } = game;
  $("stock").textContent = stock.length > 0 ? stock.length : "–";
  $("stock").disabled = stock.length === 0 || ended !== null;
  $("stock").setAttribute(
    "aria-label",
    `Draw a card, ${stock.length} in the stock`,
  );
  $("stock").classList.toggle("shown-hint", hinted === "stock");
  face($("pile"), topOf(game));
  $("pile").setAttribute("aria-label", `Pile: ${nameOf(topOf(game))}`);
  $("left").textContent = cardsLeft(game);
  $("moves").textContent = game.moves;
  $("undo").disabled = !game.before || ended !== null;
  $("hint").disabled = ended !== null;
  $("time").textContent = clock(seconds());
}

function focusColumn() {
  const wanted = $("table").querySelector(`[data-column="${focused}"]`);
  (wanted ?? $("table").querySelector("button") ?? $("stock")).focus();
}

/** The next column with a card, to one side or the other. */
function step(by) {
  const left = game.columns.flatMap((column, at) =>
    column.length > 0 ? [at] : [],
  );
  if (left.length === 0) return;
  const at = left.indexOf(focused);
  focused = left[(Math.max(0, at) + by + left.length) % left.length];
  paint();
  focusColumn();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("over").open) return;
  if (event.target instanceof HTMLSelectElement) return;
  const action = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowDown: () => $("stock").focus(),
    ArrowUp: focusColumn,
    d: turn,
    u: takeBack,
    h: help,
    n: () => start(randomSeed(), $("level").value),
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

$("stock").addEventListener("click", turn);
$("undo").addEventListener("click", takeBack);
$("hint").addEventListener("click", help);
$("new").addEventListener("click", () => start(randomSeed(), $("level").value));
$("level").addEventListener("change", () =>
  start(randomSeed(), $("level").value),
);
$("over").addEventListener("close", () => {
  if ($("over").returnValue === "new") start(randomSeed(), $("level").value);
});
setInterval(() => {
  if (began !== null && ended === null)
    $("time").textContent = clock(seconds());
}, 1_000);

const level = getAgentConfig("difficulty", "medium");
// A friend can be sent an address with the same cards.
const asked = Number(new URLSearchParams(location.search).get("seed") ?? NaN);
const seed = getAgentData("seed", asked);
start(
  Number.isFinite(seed) ? seed : randomSeed(),
  isLevel(level) ? level : "medium",
);

context?.on("new-game", (wish) => {
  const wanted = wish?.difficulty;
  const given = wish?.seed;
  start(
    Number.isFinite(given) ? given : randomSeed(),
    isLevel(wanted) ? wanted : game.level,
  );
});
context?.on("hint", help);
