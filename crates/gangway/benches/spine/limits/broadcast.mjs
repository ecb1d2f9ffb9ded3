// One stream to many sockets, by what people build it with in Node: node broadcast.mjs ws|socket.io PACKAGE.
// `GET /go/COUNT/MICROSECONDS` sends that many tokens to all sockets, with this time between them.
import { createServer } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [name, folder] = process.argv.slice(2);
const TOKEN = {
  seq: 1234,
  at: "2026-11-11T11:11:11.111Z",
  type: "assistant.message_delta",
  streamId: "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.12",
  messageId: "12.1",
  delta: "word ",
};

const http = createServer((request, response) => {
  const [, go, count, micros] = request.url.split("/");
  if (go !== "go") return void response.writeHead(404).end();
  response.writeHead(202, { "Content-Length": 0 }).end();
  void stream(Number(count), Number(micros) / 1000);
});

let broadcast;
if (name === "ws") {
  const { WebSocketServer } = await import(pathToFileURL(`${folder}/wrapper.mjs`).href);
  const server = new WebSocketServer({ server: http });
  broadcast = () => {
    const text = JSON.stringify(TOKEN);
    for (const socket of server.clients) socket.send(text);
  };
} else {
  const { Server } = await import(pathToFileURL(`${folder}/wrapper.mjs`).href);
  // No ping comes in the middle of a round.
  const server = new Server(http, { transports: ["websocket"], pingInterval: 3_600_000 });
  broadcast = () => server.emit("event", TOKEN);
}

async function stream(count, pace) {
  const begin = performance.now();
  for (let n = 1; n <= count; n += 1) {
    broadcast();
    const due = begin + n * pace - performance.now();
    await (due > 0 ? setTimeout(due) : setImmediate());
  }
}

http.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${http.address().port}`));
