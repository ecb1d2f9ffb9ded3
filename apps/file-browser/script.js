// Lists a folder, follows it, previews files and takes new ones.
import {
  listFiles,
  onStateUpdate,
  readFile,
  setAppletState,
  statFile,
  subscribeFile,
  writeFile,
} from "gangway";
import {
  freeName,
  inOrder,
  looksBinary,
  pictureType,
  readableSize,
} from "./kinds.js";

const TEXT_SHOWN = 256 * 1024;
const PICTURE_SHOWN = 32 * 1024 * 1024;
const LARGEST_UPLOAD = 16 * 1024 * 1024;
const REFRESH_AFTER_MS = 120;

const $ = (id) => document.getElementById(id);
const times = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});
let path = "";
let entries = [];
let more = false;
/** Whether the folder could not be listed the last time. */
let refused = false;
let selected = null;
let picture = null;
let loading = null;
let unsubscribe = null;
let refreshTimer;

const inFolder = (name) => (path ? `${path}/${name}` : name);

function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", bad);
}

/** Called as soon as the user acts: a state set by an agent while a folder is listed is newer, and must win. */
function remember() {
  setAppletState({ path, selected: selected ?? null }).catch((error) =>
    say(error.message, true),
  );
}

async function go(to, select = null) {
  path = to;
  say("");
  close(false);
  unsubscribe?.();
  unsubscribe = subscribeFile(path, changed);
  $("filter").value = "";
  await refresh();
  if (path !== to) return;
  if (select) await open(select);
  else $("rows").querySelector("button")?.focus();
}

async function refresh() {
  const wanted = path;
  try {
    const listed = await listFiles(path);
    if (wanted !== path) return;
    entries = inOrder(listed.entries);
    more = listed.more;
    if (more) say("This folder has too many entries; not all are listed.");
    else if (refused) say("");
    refused = false;
  } catch (error) {
    if (wanted !== path) return;
    entries = [];
    refused = true;
    say(error.message, true);
  }
  draw();
}

function changed(change) {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(refresh, REFRESH_AFTER_MS);
  if (selected && change.path === inFolder(selected)) {
    if (change.event === "removed") close(true);
    else show(selected);
  }
}

function draw() {
  drawCrumbs();
  const wanted = $("filter").value.trim().toLowerCase();
  const shown = entries.filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  );
  const focused = document.activeElement?.closest("tr")?.dataset.name;
  $("rows").replaceChildren(...shown.map(drawRow));
  $("none").hidden = shown.length > 0;
  $("none").textContent = wanted
    ? "No matching files."
    : "This folder is empty. Drop files to add them.";
  if (focused !== undefined) {
    [...$("rows").children]
      .find(({ dataset }) => dataset.name === focused)
      ?.querySelector("button")
      .focus();
  }
}

function drawRow({ name, kind, size, modified }) {
  const icon = make("span", { className: `icon ${kind}`, ariaHidden: "true" });
  const button = make("button", { type: "button" }, icon, name);
  if (kind === "folder")
    button.append(make("span", { className: "hidden-label" }, ", folder"));
  button.disabled = kind === "other";
  button.addEventListener("click", () => {
    if (kind === "folder") go(inFolder(name));
    else open(name);
    remember();
  });
  const date = new Date(modified);
  const row = make(
    "tr",
    {},
    make("td", {}, button),
    make(
      "td",
      { className: "number" },
      kind === "file" ? readableSize(size) : "",
    ),
    make(
      "td",
      { className: "when" },
      Number.isNaN(date.getTime()) ? "" : times.format(date),
    ),
  );
  row.dataset.name = name;
  if (name === selected) row.setAttribute("aria-selected", "true");
  return row;
}

function drawCrumbs() {
  const parts = path ? path.split("/") : [];
  const crumb = (text, to) => {
    const button = make("button", { type: "button" }, text);
    if (to === path) button.setAttribute("aria-current", "page");
    button.addEventListener("click", () => {
      go(to);
      remember();
    });
    return button;
  };
  $("crumbs").replaceChildren(crumb("Session", ""));
  parts.forEach((part, at) => {
    $("crumbs").append(
      make("span", { ariaHidden: "true" }, "/"),
      crumb(part, parts.slice(0, at + 1).join("/")),
    );
  });
}

async function open(name) {
  selected = name;
  $("preview").hidden = false;
  $("app").classList.add("open");
  $("name").textContent = name;
  $("content").replaceChildren();
  draw();
  await show(name);
}

async function show(name) {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  try {
    const content = await preview(name, signal);
    if (selected === name && !signal.aborted)
      $("content").replaceChildren(...content);
  } catch (error) {
    if (error.name !== "AbortError" && selected === name) {
      $("content").replaceChildren(
        make("p", { className: "problem" }, error.message),
      );
    }
  }
}

async function preview(name, signal) {
  const file = inFolder(name);
  const { size } = await statFile(file, { signal });
  const type = pictureType(name);
  if (type && size <= PICTURE_SHOWN) {
    const bytes = await readFile(file, { binary: true, signal });
    if (picture) URL.revokeObjectURL(picture);
    picture = URL.createObjectURL(new Blob([bytes], { type }));
    const image = make("img", { src: picture, alt: `Image ${name}` });
    image.addEventListener("error", () =>
      image.replaceWith(make("p", {}, "This image cannot be displayed.")),
    );
    return [image];
  }
  const bytes = await readFile(file, {
    binary: true,
    signal,
    length: TEXT_SHOWN,
  });
  if (looksBinary(bytes))
    return [
      make(
        "p",
        { className: "quiet" },
        `No preview for this file type (${readableSize(size)}).`,
      ),
    ];
  // A cut in the middle of a letter is no letter.
  const text = new TextDecoder().decode(bytes, { stream: true });
  const shown = [make("pre", {}, text)];
  if (size > bytes.length)
    shown.push(
      make(
        "p",
        { className: "quiet" },
        `The first ${readableSize(bytes.length)} of ${readableSize(size)}.`,
      ),
    );
  if (text === "")
    return [make("p", { className: "quiet" }, "This file is empty.")];
  return shown;
}

function close(redraw) {
  loading?.abort();
  selected = null;
  $("preview").hidden = true;
  $("app").classList.remove("open");
  $("content").replaceChildren();
  if (redraw) draw();
}

async function download() {
  const name = selected;
  try {
    const bytes = await readFile(inFolder(name), { binary: true });
    const url = URL.createObjectURL(new Blob([bytes]));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } catch (error) {
    say(error.message, true);
  }
}

async function add(files) {
  const taken = new Set(entries.map(({ name }) => name));
  let added = 0;
  for (const file of files) {
    const name = freeName(file.name, taken);
    if (file.size > LARGEST_UPLOAD) {
      say(
        `${file.name} is larger than ${readableSize(LARGEST_UPLOAD)} and was not added.`,
        true,
      );
      return;
    }
    say(`Adding ${name} …`);
    try {
      await writeFile(inFolder(name), file);
    } catch (error) {
      say(`${name}: ${error.message}`, true);
      return;
    }
    taken.add(name);
    added += 1;
  }
  await refresh();
  say(added === 1 ? "1 file was added." : `${added} files were added.`);
}

$("rows").addEventListener("keydown", (event) => {
  const buttons = [...$("rows").querySelectorAll("button:not(:disabled)")];
  const at = buttons.indexOf(document.activeElement);
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: buttons.length - 1,
  }[event.key];
  if (to !== undefined)
    buttons[Math.max(0, Math.min(to, buttons.length - 1))]?.focus();
  else if (event.key === "Backspace" && path) {
    go(path.split("/").slice(0, -1).join("/"));
    remember();
  } else return;
  event.preventDefault();
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && selected) {
    close(true);
    remember();
  }
});
$("filter").addEventListener("input", draw);
$("close").addEventListener("click", () => {
  close(true);
  remember();
});
$("download").addEventListener("click", download);
$("upload").addEventListener("click", () => $("picker").click());
$("picker").addEventListener("change", () => {
  add([...$("picker").files]);
  $("picker").value = "";
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  add([...event.dataTransfer.files]);
});

let first = true;
onStateUpdate(
  (state) => {
    const to =
      typeof state.path === "string"
        ? state.path.replace(/^\/+|\/+$/g, "")
        : "";
    const name = typeof state.selected === "string" ? state.selected : null;
    if (first || to !== path) go(to, name);
    else if (name !== selected) {
      if (name) open(name);
      else close(true);
    }
    first = false;
  },
  { own: true },
);
