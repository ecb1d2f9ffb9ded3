// An agent of somebody else's, on the Agent Client Protocol: it asks before it does anything.
import { createInterface } from "node:readline";

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const OPTIONS = [
  { optionId: "yes", name: "Yes, order it", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

/** What waits for an answer of the person, by the id of the request. */
const waiting = new Map();
let asked = 0;

function prompt(id, sessionId) {
  asked += 1;
  const own = `ask-${asked}`;
  waiting.set(own, (outcome) => {
    const text = `You chose ${outcome.optionId ?? outcome.outcome}.`;
    const content = { type: "text", text };
    const update = { sessionUpdate: "agent_message_chunk", content };
    send({ method: "session/update", params: { sessionId, update } });
    send({ id, result: { stopReason: "end_turn" } });
  });
  const toolCall = { toolCallId: own, title: "Order a herring" };
  const params = { sessionId, toolCall, options: OPTIONS };
  send({ id: own, method: "session/request_permission", params });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, agentCapabilities: {} } });
  } else if (method === "session/new") {
    send({ id, result: { sessionId: "one" } });
  } else if (method === "session/prompt") {
    prompt(id, params.sessionId);
  } else if (method === undefined && waiting.has(id)) {
    waiting.get(id)(result.outcome);
    waiting.delete(id);
  }
});
