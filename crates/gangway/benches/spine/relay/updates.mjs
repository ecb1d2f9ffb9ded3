// Opens the booking page in Chromium and uses it as an agent, step after step: node updates.mjs PLAYWRIGHT-CORE WS '{…}'
//
// Says how many bytes each state.updated had, as it came to the agent over the relay.
import { pathToFileURL } from "node:url";

const [playwright, ws, told] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const { WebSocket } = await import(pathToFileURL(`${ws}/wrapper.mjs`).href);
const { chromium: executablePath, port, steps } = JSON.parse(told);

const SESSION = "bench";

/** An agent that has joined; everything it hears goes to whoever waits for it. */
async function join() {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/agent/ws`);
  const waits = new Set();
  let asked = 0;
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    for (const wait of waits) {
      if (!wait.wanted(message)) continue;
      waits.delete(wait);
      wait.resolve({ message, bytes: data.length });
    }
  });
  const next = (wanted) =>
    new Promise((resolve, reject) => {
      waits.add({ wanted, resolve });
      setTimeout(() => reject(new Error(`nothing came for ${wanted}`)), 30_000).unref();
    });
  const ask = async (type, payload) => {
    const id = `q${(asked += 1)}`;
    const answer = next(({ replyTo }) => replyTo === id);
    socket.send(JSON.stringify({ v: "mvp-0.2", type, id, payload }));
    const { message } = await answer;
    if (message.type === "error") throw new Error(JSON.stringify(message));
    return message.payload;
  };
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  await ask("relay.join", { role: "agent", sessionId: SESSION });
  return { ask, next };
}

const isUpdate = ({ type, payload }) => type === "state.updated" && payload.source === "agent";

/** Ten steps that end where they began. */
function stepsOf([first, second]) {
  const use = (toolName, params, reason) => ({ toolName, params, reason });
  return [
    use("filter", { field: "rating", operator: "gte", value: 1 }, "Only good ones are wanted."),
    use("sort", { field: "rating", order: "desc" }, "The best come first then."),
    use("highlight", { itemIds: [first.id] }, "This one fits the wishes best."),
    use("augment", { items: [{ itemId: first.id, value: "Fits best" }] }, "It says why this one is pointed out."),
    use("postMessage", { text: "I found two that fit. The first one is shorter, and runs near you." }, "To let the person choose."),
    use("select", { itemId: first.id }, "It was asked for."),
    use("clearModification", {}, "All of them were to be seen again."),
    use("select", { itemId: second.id }, "The other one was meant."),
    use("next", {}, "To see where it runs."),
    use("prev", {}, "It runs too far away."),
  ];
}

const browser = await chromium.launch({ executablePath });
try {
  const page = await browser.newPage();
  const launched = await fetch(`http://127.0.0.1:${port}/api/apps/movie-booking/launch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ config: { session: SESSION } }),
  });
  const { url } = await launched.json();
  await page.goto(url);
  await page.waitForSelector("#choices button:enabled");
  const { ask, next } = await join();
  await ask("session.start", { studyId: "bench", participantId: "p" });
  // The page begins anew with the study, and has no stage until the movies are there.
  let uiSpec = null;
  while (uiSpec === null) {
    await page.waitForSelector("#choices button:enabled");
    ({ uiSpec } = await ask("snapshot.get", {}));
  }
  const cycle = stepsOf(uiSpec.visibleItems);
  const bytes = [];
  for (let step = 0; step < steps; step += 1) {
    const update = next(isUpdate);
    await ask("tool.call", cycle[step % cycle.length]);
    bytes.push((await update).bytes);
  }
  console.log(JSON.stringify(bytes));
} finally {
  await browser.close();
}
process.exit(0);
