// Asks the person for permission, reads the list with the tool of the other page, and shows it.
const TOOL = "page-packing-list/read_list";
const $ = (id) => document.getElementById(id);

function say(text, kind = "") {
  $("status").textContent = text;
  $("status").className = kind;
}

async function check() {
  $("check").disabled = true;
  say("Waiting for your permission…");
  try {
    const { granted } = await window.agent.requestPermissions({
      scopes: ["mcp:tools.call"],
      tools: [TOOL],
      reason: "To check what you packed",
    });
    if (!granted) {
      say("This site may not read your packing list.", "problem");
      return;
    }
    const { items } = await window.agent.tools.call({ tool: TOOL, args: {} });
    $("items").replaceChildren(
      ...items.map(({ name, packed }) => {
        const line = document.createElement("li");
        line.className = packed ? "packed" : "";
        line.textContent = name;
        return line;
      }),
    );
    const packed = items.filter((item) => item.packed).length;
    say(`${packed} of ${items.length} packed. Welcome aboard!`, "good");
  } catch (error) {
    say(error.message, "problem");
  } finally {
    $("check").disabled = false;
  }
}

// The script connects with the first call; the demo then connects the page to the chat.
await window.agent?.permissions.list().catch(() => null);
const answer = await fetch("/ready").catch(() => null);
if (answer?.status === 204) {
  $("check").disabled = false;
  $("check").addEventListener("click", () => void check());
  say("Ready.");
} else say("The demo is over.", "problem");
