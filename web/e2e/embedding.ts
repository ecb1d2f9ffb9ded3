// A page of somebody else's, on an origin of its own, with an app in a frame of it.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const CLIENT = fileURLToPath(new URL("../client/dist/", import.meta.url));

/** Mounts the app that the address names, in the first frame of the page. */
const HOST = `<!doctype html>
<title>Somebody's page</title>
<body>
<iframe id="app" title="App" width="600" height="400"></iframe>
<script type="module">
  import { mountApp } from "/client/context/mount.js";
  window.mount = (options) => {
    window.problems = [];
    window.mounted = mountApp({
      frame: document.getElementById("app"),
      onProblem: (error) => window.problems.push(error.code),
      ...options,
    });
  };
  window.ready = true;
</script>`;

/** What hostile frames do: hand over ports of their own, and say things that only the server may say. */
const HOSTILE = `<!doctype html>
<title>Hostile</title>
<script>
  window.received = [];
  const query = new URLSearchParams(location.search);
  const launchId = query.get("launch");
  const target = () =>
    ({
      sibling: () => parent.frames[0],
      grandchild: () => parent.parent.frames[0],
      child: () => parent,
    })[query.get("at")]();
  const port = () => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => window.received.push(String(data));
    port1.postMessage('{"type":"welcome","seq":0}');
    port1.postMessage('{"type":"agent-event","event":"evil","payload":1,"seq":1}');
    return port2;
  };
  const right = { type: "gangway-port", launchId };
  const forms = [
    () => [right, [port()]],
    () => [right, [port(), port()]],
    () => [right, []],
    () => [{ type: "agent-event", event: "evil", payload: 1, seq: 1 }, [port()]],
    () => ['{"type":"agent-event","event":"evil","payload":1,"seq":1}', []],
    () => [{ ...right, type: "welcome", seq: 0 }, [port()]],
  ];
  window.attempts = 0;
  setInterval(() => {
    for (const form of forms) {
      const [data, ports] = form();
      try {
        target().postMessage(data, "*", ports);
        window.attempts += 1;
      } catch {}
    }
  }, 100);
  if (query.get("at") === "nest") {
    const frame = document.createElement("iframe");
    frame.src = "hostile?at=grandchild&launch=" + launchId;
    document.body.append(frame);
  }
</script>`;

export interface Stranger {
  origin: string;
  stop: () => void;
}

async function listen(server: HttpServer): Promise<Stranger> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A server of pages that are none of Gangway's. */
export async function stranger(): Promise<Stranger> {
  return listen(
    createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://x");
      if (pathname.startsWith("/client/") && !pathname.includes("..")) {
        readFile(CLIENT + pathname.slice("/client/".length)).then(
          (text) => {
            response.setHeader("content-type", "text/javascript");
            response.end(text);
          },
          () => {
            response.statusCode = 404;
            response.end();
          },
        );
        return;
      }
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(pathname === "/hostile" ? HOSTILE : HOST);
    }),
  );
}
