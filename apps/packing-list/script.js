// The page: draws the list, and offers it to agents in both ways.
import {
  getAgentConfig,
  getAgentContext,
  getAgentData,
  registerTool,
} from "./__gangway/agent.js";
import { createHost, tool } from "./__gangway/host.js";
import { FILE, PackingList } from "./list.js";

const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const launch = asked.get("launch")?.split(".")[0];
const items = getAgentData("items", []);
const list = new PackingList(
  getAgentData("title", "Packing list"),
  Array.isArray(items) ? items : [],
);
let saving = false;

const host = createHost({
  // Two pages of one name would replace each other, so each launch has its own.
  session:
    getAgentConfig("session", null) ??
    (launch === undefined
      ? "packing-list"
      : `packing-list-${launch.slice(-8)}`),
  snapshot: () => ({ uiSpec: list.state, messageHistory: [] }),
  tools: {
    pack: tool({
      description: "Marks an item of the list as packed.",
      parameters: { item: { type: "string", description: "Its name." } },
      run({ item }, { reason }) {
        list.pack(item);
        note(`Packed ${item}`, reason);
        draw();
      },
    }),
    save_list: tool({
      description: `Saves the list as ${FILE}, if the person consents. Does not wait for the decision.`,
      parameters: {},
      run(_, { reason }) {
        note("Asked to save the list", reason);
        void save();
        return { asked: true };
      },
    }),
  },
});

registerTool(
  {
    name: "read_list",
    description: "Reads the list.",
    parameters: {},
    readOnly: true,
  },
  () => list.state,
);
registerTool(
  {
    name: "add_item",
    description: "Adds an item to the list.",
    parameters: { name: { type: "string" } },
  },
  ({ name }) => {
    list.add(name);
    note(`Added ${name}`);
    changed();
    return list.state;
  },
);

/** A change that agents on the relay do not know of yet. */
function changed() {
  draw();
  host.update();
}

function say(text, problem = false) {
  $("saved").textContent = text;
  $("saved").classList.toggle("problem", problem);
}

async function save() {
  const context = getAgentContext();
  if (saving) return;
  if (!context) {
    say("Open the list from a chat to save it there.", true);
    return;
  }
  saving = true;
  draw();
  say("Waiting for your consent to save the list…");
  try {
    const content = list.markdown;
    await context.request("save-file", { filename: FILE, content });
    say(`Saved as ${FILE}.`);
  } catch (error) {
    say(`Not saved: ${error.message}`, true);
  } finally {
    saving = false;
    draw();
  }
}

/** Notes what an agent did, and why. */
function note(what, reason = "") {
  const line = document.createElement("li");
  line.append(what);
  if (reason) {
    const why = document.createElement("q");
    why.textContent = reason;
    line.append(" ", why);
  }
  $("calls").append(line);
  $("none").hidden = true;
}

function draw() {
  $("title").textContent = list.title;
  $("count").textContent = `${list.packed} of ${list.items.length} packed`;
  $("save").disabled = saving || list.items.length === 0;
  const focused = document.activeElement?.closest("#items input")?.value;
  $("items").replaceChildren(
    ...list.items.map(({ name, packed }) => {
      const box = document.createElement("input");
      Object.assign(box, { type: "checkbox", checked: packed, value: name });
      box.addEventListener("change", () => {
        list.pack(name, box.checked);
        changed();
      });
      const label = document.createElement("label");
      label.append(box, name);
      const item = document.createElement("li");
      item.append(label);
      return item;
    }),
  );
  if (focused === undefined) return;
  for (const box of $("items").querySelectorAll("input")) {
    if (box.value === focused) box.focus();
  }
}

$("add").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    list.add($("name").value);
    $("name").value = "";
    say("");
    changed();
  } catch (error) {
    say(error.message, true);
  }
});
$("save").addEventListener("click", () => void save());

const theme = getAgentConfig("theme", "auto");
if (theme !== "auto") document.documentElement.dataset.theme = theme;
draw();

// In the replay of a session it shows what it reported, and can only be looked at.
const replay = getAgentContext()?.replay;
if (replay) {
  document.body.inert = true;
  const { state: first } = list;
  replay.onState((reported) => {
    list.restore(reported?.uiSpec ?? first);
    draw();
  });
}
