// A relay by the package ws: node pairs.mjs PACKAGE. What one of two sockets says, the other hears: read, numbered, and a line of a
// log first, as anybody would write it who must keep what was said. The logs have no name, so that nothing is left of them.
import { openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { WebSocketServer } = await import(pathToFileURL(`${folder}/wrapper.mjs`).href);
const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
let waiting;
let sessions = 0;

function pair(one, other) {
  const name = `s-${(sessions += 1)}`;
  const file = join(tmpdir(), `pairs-${process.pid}-${name}.jsonl`);
  const log = openSync(file, "a");
  unlinkSync(file);
  let seq = 0;
  const pass = (from, to, direction) =>
    from.on("message", (data) => {
      const { v, type, id, replyTo, payload } = JSON.parse(data);
      if (v !== "mvp-0.2" || typeof payload !== "object") return;
      seq += 1;
      const timestamp = new Date().toISOString();
      const line = { sessionId: name, eventIndex: seq, timestamp, direction, type, payload };
      writeSync(log, `${JSON.stringify(line)}\n`);
      to.send(JSON.stringify({ v, type, id, replyTo, seq, payload }));
    });
  pass(one, other, "in");
  pass(other, one, "out");
}

server.on("connection", (socket) => {
  if (!waiting) {
    waiting = socket;
    return;
  }
  pair(waiting, socket);
  waiting = undefined;
});
server.on("listening", () => console.log(`the relay is listening on http://127.0.0.1:${server.address().port}`));
