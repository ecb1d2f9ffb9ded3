// An agent that was written from the specification of the external agent protocol alone.
// Usage: node --experimental-websocket agent.js ws://host/agent/ws SESSION, then one task a line on its standard input:
// `book`, `probe`, `say TEXT`, `call {"toolName": …}`, `snapshot`, `start`, `end`. What it hears is printed, a line of JSON each.
import { createInterface } from "node:readline";

const [url, sessionId] = process.argv.slice(2);
const V = "mvp-0.2";
const socket = new WebSocket(url);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

let sent = 0;
const waiting = new Map();

/** Sends a packet as it is. */
const send = (packet) => socket.send(JSON.stringify(packet));

/** Sends a request; its answer is the packet that names its id, an error too. */
function request(type, payload, v = V) {
  sent += 1;
  const id = `req-${String(sent).padStart(3, "0")}`;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ v, type, id, payload });
  });
}

const call = (toolName, params, reason = `Use ${toolName} to go on.`) =>
  request("tool.call", { toolName, params, reason });

const code = async (answer) => (await answer).payload.code;

/** Every error that an agent can cause by itself. */
async function probe() {
  print({
    probe: {
      version: await code(request("snapshot.get", {}, "mvp-0.1")),
      type: await code(request("snapshot.take", {})),
      tool: await code(call("teleport", {})),
      params: await code(call("select", {})),
      item: await code(call("select", { itemId: "no such item" })),
      reason: await code(
        request("tool.call", { toolName: "next", params: {} }),
      ),
    },
  });
}

/** From the first stage to the last, by what the snapshots say. */
async function book() {
  const stages = [];
  let { payload } = await request("snapshot.get", {});
  const use = async (toolName, params, reason) => {
    const answer = await call(toolName, params, reason);
    if (answer.type !== "tool.result" || answer.payload.ok !== true)
      throw new Error(JSON.stringify(answer));
    if (answer.payload.toolName !== toolName) throw new Error("another tool");
    ({ payload } = answer);
  };
  for (let turn = 0; turn < 20; turn += 1) {
    const { stage, visibleItems } = payload.uiSpec;
    stages.push(stage);
    const free = visibleItems.find(({ isDisabled }) => !isDisabled);
    const text = `I settle ${stage} next.`;
    send({ v: V, type: "agent.message", id: `say-${turn}`, payload: { text } });
    if (stage === "ticket") {
      const params = { typeId: free.id, quantity: 1 };
      await use("setQuantity", params, "One ticket for the one seat.");
    } else if (stage !== "confirm") {
      await use("select", { itemId: free.id }, `The first ${stage} will do.`);
    }
    await use("next", {}, "This stage is settled.");
    if (stage === "confirm") break;
  }
  print({ booked: stages, state: payload.uiSpec.state });
}

const tasks = {
  start: async () => {
    const study = { studyId: "pilot-01", participantId: "P07" };
    print({ started: await request("session.start", study) });
  },
  snapshot: async () => print({ snapshot: await request("snapshot.get", {}) }),
  probe,
  book,
  say: (text) =>
    send({ v: V, type: "agent.message", id: "say", payload: { text } }),
  call: async (text) => {
    const { toolName, params, reason } = JSON.parse(text);
    print({ called: await call(toolName, params, reason) });
  },
  end: async () => {
    print({
      ended: await request("session.end", { reason: "study-complete" }),
    });
  },
};

socket.onmessage = ({ data }) => {
  const packet = JSON.parse(data);
  const resolve = waiting.get(packet.replyTo);
  if (resolve) {
    waiting.delete(packet.replyTo);
    resolve(packet);
  } else print({ received: packet });
};

socket.onopen = async () => {
  print({ early: await code(request("snapshot.get", {})) });
  const joined = await request("relay.join", { role: "agent", sessionId });
  print({ joined });
  for await (const line of createInterface({ input: process.stdin })) {
    const [, task, rest] = /^(\w+) ?(.*)$/.exec(line);
    await tasks[task](rest);
  }
  socket.close();
};

socket.onerror = () => {
  print({ failed: url });
  process.exitCode = 1;
};
