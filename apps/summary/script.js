// The button: asks for leave, reads the page, and writes the summary as it comes.
import { blocksOf, promptFor, SYSTEM } from "./summary.js";
import {
  NO_GANGWAY,
  plainWords,
  refusedWords,
} from "./__gangway/vendor/plain-words.js";

const $ = (id) => document.getElementById(id);

let stop = null;

function say(words, problem = false) {
  $("status").textContent = words;
  $("status").classList.toggle("problem", problem);
}

function busy(is) {
  $("go").disabled = is;
  $("stop").hidden = !is;
  $("summary").setAttribute("aria-busy", String(is));
  if (is) $("stop").focus();
  else if (document.activeElement === document.body) $("go").focus();
}

function show(answer) {
  $("summary").hidden = answer === "";
  $("summary").replaceChildren(
    ...blocksOf(answer).map(({ points, text }) => {
      const block = document.createElement(points ? "ul" : "p");
      if (!points) block.textContent = text;
      for (const point of points ?? []) {
        const item = document.createElement("li");
        item.textContent = point;
        block.append(item);
      }
      return block;
    }),
  );
}

async function summarise(length, signal) {
  say("Gangway asks for permission in a separate window.");
  const allowed = await agent.requestPermissions({
    scopes: ["model:prompt", "browser:activeTab.read"],
    reason: "To read this article and summarise it with your own model.",
    signal,
  });
  if (!allowed.granted) {
    say(refusedWords(allowed), true);
    return;
  }
  say("Reading the page…");
  const page = await agent.browser.activeTab.readability({ signal });
  const session = await ai.createTextSession({ systemPrompt: SYSTEM, signal });
  try {
    say("Waiting for the model…");
    let answer = "";
    const prompt = promptFor(page, length);
    for await (const event of session.promptStreaming(prompt, { signal })) {
      if (event.type === "error") throw event.error;
      if (event.type !== "token") break;
      if (answer === "") say("Writing…");
      answer += event.token;
      show(answer);
    }
    say("Done, with your own model.");
  } finally {
    // It may be gone already; nobody minds.
    session.destroy().catch(() => undefined);
  }
}

$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!window.agent) {
    say(NO_GANGWAY, true);
    return;
  }
  stop = new AbortController();
  show("");
  busy(true);
  try {
    const length = new FormData(event.target).get("length");
    await summarise(length, stop.signal);
  } catch (error) {
    say(plainWords(error), error.code !== "ERR_ABORTED");
  } finally {
    busy(false);
  }
});

$("stop").addEventListener("click", () => stop.abort());

if (!window.agent) say(NO_GANGWAY);
