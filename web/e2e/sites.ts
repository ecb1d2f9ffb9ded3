// Pages of somebody else's that use Gangway, on two origins, with an MCP server and everything that goes wrong.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "@playwright/test";
import type {
  PermissionAnswer,
  PermissionScope,
} from "@gangway/client/web-agent";
import "@gangway/client/web-agent/globals";
import { expect } from "./fixtures.js";
import { json, Provider, type Asked } from "./providers.js";
import type { Server } from "./server.js";

const CLIENT = fileURLToPath(new URL("../client/dist/", import.meta.url));

const ARTICLE = `<nav>Home Shop Cart</nav><article><h1>Herring</h1>
<p>${"The herring is a fish of the northern seas, and it is eaten. ".repeat(8)}</p>
<p>${"Second: it swims in great shoals and is caught in spring. ".repeat(8)}</p></article>
<script>secret = "not text"</script>`;

const ASKS = `<script>
  const ask = () => {
    window.answer = agent.requestPermissions({ scopes: ["model:list"] });
  };
  if (location.hash !== "#quiet") ask();
</script>`;

/** What can be clicked and filled in, and what cannot. */
const FORM = `<style>body { background: rgb(0, 128, 0) }</style>
<label>Name <input id="name"></label>
<input id="secret" type="password" value="kept secret" aria-label="Code">
<button id="buy" onclick="window.bought = (window.bought ?? 0) + 1">Buy</button>
<button id="gone" hidden>Gone</button><button id="off" disabled>Off</button>
<div style="position: relative"><button id="under">Under</button>
<div style="position: absolute; inset: 0"></div></div>`;

export class Site {
  readonly #server: HttpServer;
  readonly #gangway: string;
  #port = 0;
  /** What the site's MCP server was asked, by method. */
  readonly asked: string[] = [];
  /** True when the site's MCP server answers nobody. */
  broken = false;
  /** Files of a test's own, by their paths. */
  own: Record<string, string> = {};

  constructor(gangway: string) {
    this.#gangway = gangway;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The same pages, on another origin. */
  get other(): string {
    return `http://localhost:${this.#port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    const own = this.own[pathname];
    if (own !== undefined) {
      const type = pathname.endsWith(".js") ? "javascript" : "html";
      response.setHeader("content-type", `text/${type}; charset=utf-8`);
      response.end(own);
    } else if (pathname === "/mcp") await this.#mcp(request, response);
    else if (pathname === "/redirect") {
      response.writeHead(307, { location: "http://169.254.169.254/mcp" }).end();
    } else if (pathname.startsWith("/client/") && !pathname.includes("..")) {
      const text = await readFile(CLIENT + pathname.slice("/client/".length));
      response.setHeader("content-type", "text/javascript");
      response.end(text);
    } else this.#page(pathname, response);
  }

  #page(pathname: string, response: ServerResponse): void {
    const script = `<script src="${this.#gangway}/gangway.js"></script>`;
    const link = `<link rel="mcp-server" href="/mcp" title="Shop" data-tools="price">`;
    const loader = `<script type="module">
      import { loadGangway } from "/client/web-agent/loader.js";
      window.loadGangway = loadGangway;
    </script>`;
    const bodies: Record<string, string> = {
      "/bare": "",
      "/plain": ARTICLE,
      "/first": `<script>first = [typeof ai, typeof agent]</script>`,
      "/frames": `<iframe name="same" src="/plain"></iframe>
        <iframe name="other" src="${this.other}/plain"></iframe>
        <iframe name="srcdoc" srcdoc="<p>Mine"></iframe>
        <iframe name="blank"></iframe><iframe name="blob"></iframe>
        <iframe name="data" src="data:text/html,<p>Nobody's"></iframe>
        <iframe name="sandbox" sandbox="allow-scripts" src="/plain"></iframe>
        <iframe name="sandboxed srcdoc" sandbox="allow-scripts" srcdoc="<p>Nobody's"></iframe>
        <iframe name="policy" src="/policy"></iframe>
        <script>
          const made = new Blob(["<p>Mine"], { type: "text/html" });
          document.getElementsByName("blob")[0].src = URL.createObjectURL(made);
        </script>`,
      "/embeds": `${script}<iframe name="delegated" src="${this.other}/plain-agent" data-gangway-delegate></iframe>
        <iframe name="not" src="${this.other}/plain-agent"></iframe>
        <iframe name="same" src="/plain-agent"></iframe>
        <iframe name="elsewhere" src="${this.other}/plain-agent" data-gangway-delegate="https://pay.example"></iframe>`,
      "/form": FORM,
      "/red": `<style>html { background: rgb(255, 0, 0) }</style>`,
      // Frames of others, one of them where the page's own document does not show it.
      "/red-frames": `<style>body { margin: 0; background: rgb(0, 128, 0) }
          iframe { border: 0; width: 200px; height: 200px; visibility: visible !important }</style>
        <iframe id="open" src="${this.other}/red"></iframe><div id="host"></div>
        <script>
          const root = host.attachShadow({ mode: "closed" });
          root.innerHTML = \`<iframe src="${this.other}/red" style="border: 0; width: 200px;
            height: 200px; visibility: visible !important"></iframe>\`;
        </script>`,
      "/form-frames": `<iframe name="same" src="/form"></iframe>
        <iframe name="other" src="${this.other}/form"></iframe>
        <button id="outside" onclick="window.bought = 1">Buy outside</button>`,
      "/policy": ARTICLE,
      "/asks": `${ASKS}${["a", "b", "c", "d#quiet", "e#quiet"]
        .map((name) => this.#asking(name))
        .join("")}`,
      "/asks-too": `<button onclick="ask()">Ask</button>${ASKS}`,
      "/offers": link,
      "/loader": loader,
      "/public": loader,
      "/public-plain": "",
      "/sandbox": `<iframe sandbox="allow-scripts" src="/"></iframe>`,
      "/early": `<script>events = []; addEventListener("agent-ready", () => events.push("ready"))</script>
        ${script}<script>events.push(typeof agent, typeof ai)</script>`,
      "/names": `${script}<script>const agent = 1; let ai = 2; sum = agent + ai;</script>`,
      "/cover": `${script}<iframe id="permit" width="460" height="640"></iframe>`,
    };
    if (pathname.startsWith("/public")) {
      const policy = "treat-as-public-address";
      response.setHeader("content-security-policy", policy);
    }
    if (pathname === "/policy") {
      response.setHeader("content-security-policy", "sandbox allow-scripts");
    }
    response.setHeader("content-type", "text/html; charset=utf-8");
    const body = bodies[pathname] ?? `${script}${ARTICLE}`;
    response.end(`<!doctype html><title>A shop</title>${link}<body>${body}`);
  }

  /** A frame of another origin that asks when it is loaded, or not before it is clicked. */
  #asking(name: string): string {
    const [host = "", hash = ""] = name.split("#");
    const url = `http://${host}.localhost:${this.#port}/asks-too#${hash}`;
    return `<iframe name="${host}" src="${url}" data-gangway-delegate></iframe>`;
  }

  /** An MCP server with one tool, `price`. */
  async #mcp(request: IncomingMessage, response: ServerResponse) {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (this.broken) {
      response.destroy();
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params?: { protocolVersion?: string; arguments?: { fish?: string } };
    };
    this.asked.push(method);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "shop", version: "1" },
      },
      "tools/list": {
        tools: [
          {
            name: "price",
            description: "What a fish costs",
            inputSchema: {
              type: "object",
              properties: { fish: { type: "string" } },
            },
          },
        ],
      },
      "tools/call": {
        content: [{ type: "text", text: `${params?.arguments?.fish} costs 7` }],
      },
    };
    const result = results[method];
    json(
      response,
      result
        ? { jsonrpc: "2.0", id, result }
        : { jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } },
    );
  }
}

/** OpenAI's wire: `call NAME {json}` in a prompt calls the tool whose name has that in it, with `twice` twice at once; `endless` never ends, `fail` fails. */
export class Thinker extends Provider {
  /** How many answers nobody wanted any more. */
  left = 0;

  get settings() {
    return {
      providers: {
        thinker: { type: "openai", base_url: `${this.url}/v1`, key: "k" },
      },
    };
  }

  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.path.endsWith("/models")) {
      json(response, { object: "list", data: [{ id: "deep-1" }] });
      return;
    }
    const { messages, tools = [] } = JSON.parse(asked.body) as {
      messages: { role: string; content?: unknown }[];
      tools?: { function: { name: string } }[];
    };
    const last = messages.at(-1);
    const said =
      typeof last?.content === "string"
        ? last.content
        : JSON.stringify(last?.content);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value: object) =>
      response.write(`data: ${JSON.stringify(value)}\n\n`);
    const delta = (delta: object, finish: string | null = null) =>
      send({ choices: [{ index: 0, delta, finish_reason: finish }] });
    const wish = /call (\S+) (\{.*\})/.exec(last?.role === "user" ? said : "");
    const tool = tools.find(
      ({ function: { name } }) => wish?.[1] && name.includes(wish[1]),
    );
    if (said.includes("fail")) {
      send({ error: { message: "the cat sat on the GPU" } });
    } else if (wish && tool) {
      const called = { name: tool.function.name, arguments: wish[2] };
      const one = (index: number) => ({
        ...{ index, id: `call_${index}`, type: "function", function: called },
      });
      delta({
        tool_calls: said.includes("twice") ? [one(0), one(1)] : [one(0)],
      });
      delta({}, "tool_calls");
    } else if (said.includes("endless")) {
      response.on("close", () => (this.left += 1));
      while (!response.closed) {
        delta({ content: "on and " });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    } else {
      for (const word of ["Heard", ": ", said.slice(0, 200)])
        delta({ content: word });
      delta({}, "stop");
    }
    response.end("data: [DONE]\n\n");
  }
}

/** The window in which the person decides, which `work` opens. */
export async function asked(
  context: BrowserContext,
  work: () => Promise<unknown>,
): Promise<Page> {
  const opening = context.waitForEvent("page");
  await work();
  const permit = await opening;
  await expect(permit.getByRole("button", { name: "Deny" })).toBeEnabled();
  return permit;
}

/** Asks for scopes from a page, and has the person answer with a button. */
export async function request(
  page: Page,
  scopes: PermissionScope[],
  button: "Allow once" | "Always allow" | "Deny",
  more: { reason?: string; tools?: string[] } = {},
): Promise<PermissionAnswer> {
  const wish = { scopes, ...more };
  const permit = await asked(page.context(), () =>
    page.evaluate((wish) => {
      const answer = window.agent?.requestPermissions(wish);
      Object.assign(window, { answer });
    }, wish),
  );
  const answer = permit.getByRole("button", { name: button });
  await answer.waitFor();
  // Beyond a handful none is checked.
  const all = permit.getByRole("button", { name: "Select all", exact: true });
  if (await all.isVisible()) await all.click();
  await answer.click();
  return page.evaluate(
    () => (window as unknown as { answer: Promise<PermissionAnswer> }).answer,
  );
}

/** What a call on the page was refused with: its code, or the name of the error. */
export async function codeOf(page: Page, call: string): Promise<string> {
  return page.evaluate(async (call) => {
    try {
      // The test writes it.
      await (0, eval)(`(async () => ${call})()`);
      return "kept";
    } catch (error) {
      const { code, name } = error as { code?: string; name: string };
      return code ?? name;
    }
  }, call);
}

/** The first decision about a page is made in its own window alone; this is it. */
export async function meet(page: Page): Promise<void> {
  const answer = await request(page, ["chat:open"], "Allow once");
  expect(answer.granted).toBe(true);
}

/** The value of an expression on the page. */
export async function valueOf<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(
    (expression) => (0, eval)(`(async () => (${expression}))()`) as T,
    expression,
  );
}

/** Waits until the MCP servers are up. */
export async function toolsThere(server: Server): Promise<void> {
  await expect(async () => {
    const answer = await server.fetch("/api/tools");
    const { tools } = (await answer.json()) as { tools: unknown[] };
    expect(tools.length).toBeGreaterThan(0);
  }).toPass({ timeout: 30_000, intervals: [50, 100] });
}
