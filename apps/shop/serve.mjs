// A shop on an origin of its own, with its own MCP server: `node apps/shop/serve.mjs`.
// PORT is where it listens (4010), GANGWAY where the customers' Gangway is (http://localhost:3000).
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { answer, kindOf, RpcError, VERSIONS } from "./mcp.mjs";
import { Carts, PRODUCTS, ShopError } from "./stock.mjs";

const FILES = {
  "/style.css": "text/css; charset=utf-8",
  "/script.js": "text/javascript; charset=utf-8",
  "/assistant.js": "text/javascript; charset=utf-8",
  "/tools.js": "text/javascript; charset=utf-8",
  "/words.js": "text/javascript; charset=utf-8",
};
/** Bytes of a request; the longest sensible one is far shorter. */
const BODY = 64 << 10;
const COOKIE = "shop-cart";
/** Tabs of one customer that watch the cart. */
const WATCHERS = 20;

class HttpError extends Error {
  constructor(status, message, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Starts the shop; gives back its origin and how to close it. */
export async function start({
  port = 4010,
  gangway = "http://localhost:3000",
} = {}) {
  const server = gangwayOrigin(gangway);
  const carts = new Carts();
  const http = createServer((request, response) => {
    handle({ carts, gangway: server }, request, response).catch((error) =>
      fail(response, error),
    );
  });
  await new Promise((resolve, reject) => {
    http.once("error", reject);
    // For this machine alone: nobody logs in here.
    http.listen(port, "127.0.0.1", resolve);
  });
  return {
    origin: `http://localhost:${http.address().port}`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** It is put into the page and its policy: nothing but an origin may stand there. */
function gangwayOrigin(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(
      `GANGWAY is ${JSON.stringify(text)}; it must be a URL such as http://localhost:3000.`,
    );
  }
  return url.origin;
}

async function handle(shop, request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://shop");
  fromHere(request);
  if (pathname === "/mcp") {
    return mcp(shop, request, response, searchParams.get("cart"));
  }
  const method = request.method === "HEAD" ? "GET" : request.method;
  switch (`${method} ${pathname}`) {
    case "GET /":
      return page(shop, request, response);
    case "GET /products.json":
      return json(response, 200, PRODUCTS);
    case "GET /cart/events":
      return watch(ownCart(shop, request), response);
    case "POST /cart": {
      const { sku, quantity } = await readJson(request);
      const cart = ownCart(shop, request);
      cart.set(sku, quantity, "customer");
      return json(response, 200, cart.view());
    }
  }
  const kind = Object.hasOwn(FILES, pathname) && FILES[pathname];
  if (!kind || method !== "GET") {
    throw new HttpError(404, "Not found.");
  }
  response.writeHead(200, {
    "content-type": kind,
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
  });
  response.end(await inPage(pathname.slice(1)));
}

const inPage = (name) =>
  readFile(new URL(`page/${name}`, import.meta.url), "utf8");

/** A page of another site gets nothing, under whatever name it reaches this machine. */
function fromHere({ headers, socket }) {
  const hosts = ["localhost", "127.0.0.1"].map(
    (name) => `${name}:${socket.localPort}`,
  );
  if (!hosts.includes(headers.host)) {
    throw new HttpError(403, `This shop is at ${hosts[0]}.`);
  }
  const { origin } = headers;
  if (origin && !hosts.some((host) => origin === `http://${host}`)) {
    throw new HttpError(403, `Requests from ${origin} are not allowed.`);
  }
}

async function page({ carts, gangway }, request, response) {
  let id = cookie(request);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy":
      "default-src 'none'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      `script-src 'self' ${gangway}; frame-src ${gangway}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  if (!id || !carts.find(id)) {
    id = carts.open();
    headers["set-cookie"] = `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Lax`;
  }
  const text = await inPage("index.html");
  response.writeHead(200, headers);
  // An agent comes without the customer's cookie: the address says whose cart it is.
  response.end(text.replaceAll("%GANGWAY%", gangway).replaceAll("%CART%", id));
}

function cookie({ headers }) {
  const pairs = (headers.cookie ?? "").split(";");
  const found = pairs.find((pair) => pair.trim().startsWith(`${COOKIE}=`));
  return found?.trim().slice(COOKIE.length + 1);
}

function ownCart({ carts }, request) {
  const cart = carts.find(cookie(request));
  if (!cart) {
    throw new HttpError(409, "This cart has expired. Reload the page.");
  }
  return cart;
}

/** Server-sent events: the cart as it is, and after each change. */
function watch(cart, response) {
  if (cart.listenerCount("change") >= WATCHERS) {
    throw new HttpError(429, "The shop is open in too many tabs.");
  }
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
  });
  const tell = (view) => response.write(`data: ${JSON.stringify(view)}\n\n`);
  tell(cart.view());
  cart.on("change", tell);
  response.on("close", () => cart.off("change", tell));
}

/** MCP over streamable HTTP; every answer is JSON, which the protocol allows. */
async function mcp({ carts }, request, response, named) {
  const { method, headers } = request;
  const session = headers["mcp-session-id"];
  if (method === "DELETE" && session && !named) {
    // Its cart stays until others need the room.
    response.writeHead(204).end();
    return;
  }
  if (method !== "POST") {
    throw new HttpError(405, "Use POST; this server has no event stream.", {
      allow: "POST",
    });
  }
  const accept = headers.accept ?? "*/*";
  if (!/application\/(json|\*)|\*\/\*/.test(accept)) {
    throw new HttpError(406, "Accept must include application/json.");
  }
  const version = headers["mcp-protocol-version"];
  const message = await readJson(request);
  let kind;
  try {
    kind = kindOf(message);
  } catch (error) {
    json(response, 400, rpcError(null, error));
    return;
  }
  const hello = kind === "request" && message.method === "initialize";
  if (version !== undefined && !hello && !VERSIONS.includes(version)) {
    const words = `Unsupported MCP-Protocol-Version ${version}. Supported: ${VERSIONS.join(", ")}.`;
    json(response, 400, rpcError(null, new RpcError(-32600, words)));
    return;
  }
  // Without a customer's cart, the session gets its own.
  const id = named ?? (hello ? carts.open() : session);
  if (!id) {
    throw new HttpError(400, "Mcp-Session-Id is missing. Initialize first.");
  }
  const cart = carts.find(id);
  if (!cart) throw new HttpError(404, "This cart has expired.");
  if (kind !== "request") {
    response.writeHead(202).end();
    return;
  }
  const own = hello && !named ? { "mcp-session-id": id } : {};
  try {
    const result = answer(message, cart);
    json(response, 200, { jsonrpc: "2.0", id: message.id, result }, own);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    json(response, 200, rpcError(message.id, error));
  }
}

const rpcError = (id, { code, message }) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

async function readJson(request) {
  const type = request.headers["content-type"] ?? "";
  // Forms of other pages can send anything but this.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpError(415, "Content-Type must be application/json.");
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY) throw new HttpError(413, "The request body is too large.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) ?? {};
  } catch {
    throw new HttpError(400, "The request body is not valid JSON.");
  }
}

function json(response, status, value, headers = {}) {
  response.writeHead(status, {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(JSON.stringify(value));
}

function fail(response, error) {
  const known = error instanceof HttpError || error instanceof ShopError;
  if (!known) console.error(error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const words = known ? error.message : "Internal error.";
  const status = error.status ?? (known ? 400 : 500);
  json(response, status, { error: words }, error.headers);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { PORT = "4010", GANGWAY } = process.env;
  const shop = await start({ port: Number(PORT), gangway: GANGWAY });
  console.log(`The shop is open at ${shop.origin}`);
}
