// A relay by the package ws: node pairs.mjs PACKAGE. What one of two sockets says, the other hears, and nobody reads it.
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { WebSocketServer } = await import(pathToFileURL(`${folder}/wrapper.mjs`).href);
const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
let waiting;

const pass = (from, to) => from.on("message", (data, binary) => to.send(data, { binary }));

server.on("connection", (socket) => {
  if (!waiting) {
    waiting = socket;
    return;
  }
  pass(waiting, socket);
  pass(socket, waiting);
  waiting = undefined;
});
server.on("listening", () => console.log(`the relay is listening on http://127.0.0.1:${server.address().port}`));
