// The shop: what it sells, its carts, its MCP server over real HTTP, and what its page says.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pageTools } from "../../apps/shop/page/tools.js";
import { changeWords, plainWords } from "../../apps/shop/page/words.js";
import { start } from "../../apps/shop/serve.mjs";
import { Cart, Carts, search } from "../../apps/shop/stock.mjs";

describe("the stock", () => {
  test("is searched by every word and by price", () => {
    const names = (wish) => search(wish).map(({ sku }) => sku);
    expect(names({ query: "RAIN" })).toEqual(["oilskin"]);
    expect(names({ query: "gift" })).toEqual(["kettle", "compass", "biscuits"]);
    expect(names({ query: "gift", maxPrice: 30 })).toEqual([
      "kettle",
      "biscuits",
    ]);
    expect(names({ query: "rain kettle" })).toEqual([]);
    expect(names({})).toHaveLength(8);
  });

  test("adds up in a cart, which says who changed what", () => {
    const cart = new Cart();
    const changes = [];
    cart.on("change", ({ change }) => changes.push(change));
    cart.add("rope", 2, "assistant");
    cart.set("kettle", 1, "customer");
    cart.set("kettle", 1, "customer");
    expect(cart.view()).toEqual({
      lines: [
        {
          sku: "rope",
          name: "Mooring rope, 20 m",
          price: 28,
          quantity: 2,
          sum: 56,
        },
        {
          sku: "kettle",
          name: "Galley kettle",
          price: 22,
          quantity: 1,
          sum: 22,
        },
      ],
      total: 78,
    });
    cart.set("rope", 0, "customer");
    expect(changes.map(changeWords)).toEqual([
      "The assistant added 2 × Mooring rope, 20 m to the cart.",
      "You added 1 × Galley kettle to the cart.",
      "You removed Mooring rope, 20 m from the cart.",
    ]);
  });

  test.each([
    ["gold", 1],
    ["rope", 21],
    ["rope", 1.5],
    ["rope", -1],
    ["rope", "2"],
    ["__proto__", 1],
  ])("a cart takes no %s × %s", (sku, quantity) => {
    const cart = new Cart();
    expect(() => cart.set(sku, quantity, "customer")).toThrow(
      /Unknown product|0 to 20/,
    );
    expect(cart.view().lines).toEqual([]);
  });

  test("of too many carts the one that was unused for longest goes", () => {
    const carts = new Carts(2);
    const [first, second] = [carts.open(), carts.open()];
    carts.find(first);
    const third = carts.open();
    expect([first, second, third].map((id) => carts.find(id) !== null)).toEqual(
      [true, false, true],
    );
  });
});

describe("over HTTP", () => {
  let shop;
  beforeEach(async () => (shop = await start({ port: 0 })));
  afterEach(() => shop.close());

  const ask = (body, { query = "", ...more } = {}) =>
    fetch(`${shop.origin}/mcp${query}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...more,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const rpc = (method, params, id = 1) => ({
    ...{ jsonrpc: "2.0", id, method },
    ...(params && { params }),
  });
  const hello = (protocolVersion = "2025-06-18") =>
    rpc("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
  async function session() {
    const answer = await ask(hello());
    return { "mcp-session-id": answer.headers.get("mcp-session-id") };
  }
  const call = async (name, given, options) =>
    (
      await (
        await ask(rpc("tools/call", { name, arguments: given }), options)
      ).json()
    ).result;
  async function customer() {
    const page = await fetch(shop.origin);
    const [cookie] = page.headers.get("set-cookie").split(";");
    const text = await page.text();
    const [, query] = /href="\/mcp(\?cart=[^"]+)"/.exec(text);
    return { cookie, query, text, page };
  }

  test.each([
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2024-11-05", "2025-11-25"],
    ["3000-01-01", "2025-11-25"],
  ])("who asks for version %s is offered %s", async (asked, offered) => {
    const answer = await ask(hello(asked));
    expect(answer.headers.get("content-type")).toBe("application/json");
    const { result } = await answer.json();
    expect(result.protocolVersion).toBe(offered);
    expect(result.capabilities).toEqual({ tools: {} });
  });

  test("a session has a cart of its own", async () => {
    const [mine, yours] = [await session(), await session()];
    const said = await ask(
      { jsonrpc: "2.0", method: "notifications/initialized" },
      mine,
    );
    expect([said.status, await said.text()]).toEqual([202, ""]);
    const added = await call("add_to_cart", { sku: "rope", quantity: 2 }, mine);
    expect(added.structuredContent.total).toBe(56);
    expect(JSON.parse(added.content[0].text)).toEqual(added.structuredContent);
    expect((await call("view_cart", {}, yours)).structuredContent.total).toBe(
      0,
    );
    const { result } = await (await ask(rpc("tools/list"), mine)).json();
    expect(result.tools.map(({ name }) => name)).toEqual([
      "search",
      "add_to_cart",
      "view_cart",
    ]);
  });

  test("an agent with a customer's URL fills that customer's cart, and the customer is notified", async () => {
    const { cookie, query } = await customer();
    const stop = new AbortController();
    const events = await fetch(`${shop.origin}/cart/events`, {
      headers: { cookie },
      signal: stop.signal,
    });
    const reader = events.body.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () =>
      JSON.parse((await reader.read()).value.slice("data: ".length));
    expect(await next()).toEqual({ lines: [], total: 0 });
    await call("add_to_cart", { sku: "lantern" }, { query });
    expect(await next()).toMatchObject({
      total: 34,
      change: { sku: "lantern", by: "assistant", before: 0, now: 1 },
    });
    await fetch(`${shop.origin}/cart`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json" },
      body: JSON.stringify({ sku: "lantern", quantity: 0 }),
    });
    expect(await next()).toMatchObject({
      total: 0,
      change: { by: "customer" },
    });
    stop.abort();
  });

  test.each([
    ["gold", { sku: "gold" }, /Unknown product: gold/],
    ["too many", { sku: "rope", quantity: 500 }, /0 to 20/],
    ["none", { sku: "rope", quantity: 0 }, /at least 1/],
    ["half", { sku: "rope", quantity: 0.5 }, /type integer/],
    ["nothing", {}, /sku is missing/],
    ["a list", [], /must be an object/],
    [
      "too much",
      { sku: "rope", constructor: 1 },
      /unknown argument constructor/,
    ],
  ])("the model is told why %s cannot be added", async (_, given, words) => {
    const own = await session();
    const result = await call("add_to_cart", given, own);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(words);
  });

  test.each([
    ["no JSON", "{", 400],
    ["no message", { hello: 1 }, 400],
    ["a batch", [hello()], 400],
    ["an id that is null", { ...hello(), id: null }, 400],
    ["what is too long", JSON.stringify("x".repeat(70_000)), 413],
  ])("%s is refused", async (_, body, status) => {
    expect((await ask(body)).status).toBe(status);
  });

  test("headers are held to", async () => {
    const own = await session();
    const ping = rpc("ping");
    const status = async (headers) => (await ask(ping, headers)).status;
    expect(await status(own)).toBe(200);
    expect(await status({})).toBe(400);
    expect(await status({ "mcp-session-id": "nobody" })).toBe(404);
    expect(await status({ query: "?cart=nobody" })).toBe(404);
    expect(await status({ ...own, "mcp-protocol-version": "2025-06-18" })).toBe(
      200,
    );
    expect(await status({ ...own, "mcp-protocol-version": "1999-01-01" })).toBe(
      400,
    );
    expect(await status({ ...own, accept: "text/html" })).toBe(406);
    expect(await status({ ...own, "content-type": "text/plain" })).toBe(415);
    expect(await status({ ...own, origin: "https://evil.example" })).toBe(403);
    expect(await status({ ...own, origin: shop.origin })).toBe(200);
    const got = await fetch(`${shop.origin}/mcp`);
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("methods and tools that are not there are named", async () => {
    const own = await session();
    const error = async (message) =>
      (await (await ask(message, own)).json()).error;
    expect((await error(rpc("resources/list"))).code).toBe(-32601);
    expect(await error(rpc("tools/call", { name: "steal" }))).toEqual({
      code: -32602,
      message: "Unknown tool: steal",
    });
  });

  test("the page lets nothing in but itself and the Gangway that was named", async () => {
    const { page, text } = await customer();
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain("script-src 'self' http://localhost:3000;");
    expect(text).toContain('src="http://localhost:3000/gangway.js"');
    expect(text).not.toContain("%");
    await expect(
      start({ port: 0, gangway: "javascript:alert(1)" }),
    ).rejects.toThrow(/GANGWAY/);
  });

  test("nothing else is served, and a deleted cart cannot be used", async () => {
    const status = async (path, init) =>
      (await fetch(`${shop.origin}${path}`, init)).status;
    expect(await status("/script.js")).toBe(200);
    expect(await status("/serve.mjs")).toBe(404);
    expect(await status("/%2e%2e/serve.mjs")).toBe(404);
    expect(await status("/constructor")).toBe(404);
    expect(await status("/cart/events")).toBe(409);
  });
});

test("the page's own tools show products and the cart as it is seen", () => {
  const shown = [];
  const [highlight, cart] = pageTools({
    products: [{ sku: "rope" }],
    show: (sku) => shown.push(sku),
    cart: () => ({ lines: [], total: 0 }),
  });
  expect(highlight.execute({ sku: "rope" })).toEqual({ shown: "rope" });
  expect(() => highlight.execute({ sku: "gold" })).toThrow(
    "Known products: rope.",
  );
  expect(shown).toEqual(["rope"]);
  expect(cart.execute({})).toEqual({ lines: [], total: 0 });
});

test("errors of a Gangway are said in plain words, and unknown ones speak for themselves", () => {
  expect(plainWords({ code: "USER_DENIED", message: "x" })).toMatch(
    /Permission denied/,
  );
  expect(
    plainWords({ code: "CONNECTION_FAILED", message: "no route" }),
  ).toMatch(/could not reach our server.*no route/);
  expect(plainWords({ code: "ERR_LATER", message: "Something new." })).toBe(
    "Something new.",
  );
  expect(plainWords(undefined)).toBe("That failed.");
});
