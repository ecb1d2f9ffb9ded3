// The list of notes, the editor and the preview.
import {
  listFiles,
  onStateUpdate,
  readFile,
  setAppletState,
  subscribeFile,
  writeFile,
} from "gangway";
import { parse, render, tick } from "./markdown.js";
import { Note } from "./note.js";

const SAVE_AFTER_MS = 700;
const LARGEST = 2 * 1024 * 1024;
const DEEPEST = 3;
const MOST = 300;

const $ = (id) => document.getElementById(id);
const area = $("text");
let note = null;
let saveTimer;
let drawTimer;
let queue = Promise.resolve();

const files = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if (error.code === "not_found") return null;
      throw error;
    }
  },
  write: writeFile,
};

/** One thing after the other: a look must not overtake a save. */
function inTurn(work) {
  queue = queue.then(work).catch((error) => say(error.message, true));
  return queue;
}

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", bad);
}

async function findNotes(folder = "", depth = 0) {
  const { entries } = await listFiles(folder);
  const found = [];
  for (const { name, kind, size } of entries) {
    if (name.startsWith(".") || found.length >= MOST) continue;
    const path = folder ? `${folder}/${name}` : name;
    if (kind === "file" && /\.(md|markdown)$/i.test(name) && size <= LARGEST)
      found.push(path);
    else if (kind === "folder" && depth < DEEPEST && name !== "node_modules") {
      found.push(...(await findNotes(path, depth + 1)));
    }
  }
  return found;
}

let paths = [];
async function refresh() {
  paths = (await findNotes()).slice(0, MOST);
  drawList();
}

function drawList() {
  $("none").hidden = paths.length > 0;
  $("notes").replaceChildren(
    ...paths.map((path) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = path.replace(/\.(md|markdown)$/i, "");
      button.title = path;
      if (path === note?.path) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => choose(path));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
}

function choose(path) {
  setAppletState({ open: path }).catch((error) => say(error.message, true));
  return open(path);
}

function open(path) {
  return inTurn(async () => {
    if (note?.path === path) return;
    if (note?.dirty) await note.save();
    if (note?.theirs != null) return showConflict();
    const next = new Note(path, files);
    await next.open();
    note = next;
    area.disabled = false;
    area.value = note.text;
    area.setSelectionRange(0, 0);
    $("title").textContent = path;
    say("");
    showConflict();
    drawList();
    draw();
  });
}

function draw() {
  clearTimeout(drawTimer);
  const { scrollTop } = $("preview");
  $("preview").replaceChildren(...render(parse(note?.text ?? ""), onTick));
  $("preview").scrollTop = scrollTop;
}

function onTick(line, done) {
  area.value = note.text = tick(note.text, line, done);
  edited();
}

function edited() {
  say("Not saved yet");
  clearTimeout(saveTimer);
  saveTimer = setTimeout(save, SAVE_AFTER_MS);
  clearTimeout(drawTimer);
  // Long notes are drawn less often, so that typing stays quick.
  drawTimer = setTimeout(draw, note.text.length > 50_000 ? 400 : 60);
}

function save() {
  clearTimeout(saveTimer);
  return inTurn(async () => {
    if (!note || note.theirs !== null) return;
    const saving = note;
    const outcome = await note.save();
    if (note !== saving) return;
    if (outcome === "saved") say(note.dirty ? "Not saved yet" : "Saved");
    if (outcome === "updated") show();
    showConflict();
  });
}

/** Puts the note's text on the screen and leaves the cursor where it was. */
function show() {
  const { selectionStart, selectionEnd, scrollTop } = area;
  area.value = note.text;
  area.setSelectionRange(selectionStart, selectionEnd);
  area.scrollTop = scrollTop;
  draw();
}

function showConflict() {
  const conflict = note !== null && note.theirs !== null;
  $("conflict").hidden = !conflict;
  if (conflict) say("Not saved", true);
}

function changed({ path }) {
  if (/\.(md|markdown)$/i.test(path) || path === "") inTurn(refresh);
  if (
    !note ||
    (path !== note.path && !note.path.startsWith(`${path}/`) && path !== "")
  )
    return;
  inTurn(async () => {
    const looked = note;
    const outcome = await note.look();
    if (note !== looked) return;
    if (outcome === "updated") {
      show();
      say("Updated with changes from elsewhere");
    }
    showConflict();
  });
}

function settle(how) {
  inTurn(async () => {
    if (!note) return;
    if (how === "mine") await note.keepMine();
    else if (how === "theirs") note.takeTheirs();
    else note.keepBoth();
    show();
    showConflict();
    if (note.dirty) edited();
    else say("Saved");
    area.focus();
  });
}

area.addEventListener("input", () => {
  note.text = area.value;
  edited();
});
area.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
    event.preventDefault();
    save();
  }
});
for (const how of ["mine", "theirs", "both"])
  $(how).addEventListener("click", () => settle(how));
for (const button of document.querySelectorAll("[data-view]:is(button)")) {
  button.addEventListener("click", () => {
    $("panes").dataset.view = button.dataset.view;
    for (const other of document.querySelectorAll("button[data-view]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}
$("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = $("name").value.trim().replace(/^\/+/, "");
  if (name === "") return;
  const path = /\.(md|markdown)$/i.test(name) ? name : `${name}.md`;
  try {
    if ((await files.read(path)) === null)
      await writeFile(path, `# ${name.replace(/\.(md|markdown)$/i, "")}\n\n`);
    $("name").value = "";
    await inTurn(refresh);
    await choose(path);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  } catch (error) {
    say(error.message, true);
  }
});
addEventListener("pagehide", save);
document.addEventListener("visibilitychange", () => document.hidden && save());

let asked = null;
onStateUpdate(
  ({ open: path }) => {
    if (typeof path !== "string" || path === asked) return;
    asked = path;
    open(path);
  },
  { own: true },
);
subscribeFile("", changed);
inTurn(async () => {
  await refresh();
  if (!note && asked === null && paths[0]) queueMicrotask(() => open(paths[0]));
});
