// The shop as an MCP server: the messages, independent of the transport.
import { MOST, PRODUCTS, search, ShopError } from "./stock.mjs";

/** Newest first. */
export const VERSIONS = ["2025-11-25", "2025-06-18"];

const SKU = {
  type: "string",
  enum: PRODUCTS.map(({ sku }) => sku),
  description: "The product's sku, as returned by `search`.",
};

export const TOOLS = [
  {
    name: "search",
    title: "Search the shop",
    description:
      "Finds products of this shop by keywords and price. Without keywords it lists everything.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Keywords, such as `rain`." },
        max_price: { type: "number", description: "In euros." },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "add_to_cart",
    title: "Add to cart",
    description:
      "Adds a product to the customer's cart, which updates on the page at once. It does not buy anything.",
    inputSchema: {
      type: "object",
      properties: {
        sku: SKU,
        quantity: { type: "integer", minimum: 1, maximum: MOST, default: 1 },
      },
      required: ["sku"],
      additionalProperties: false,
    },
    annotations: { destructiveHint: false, openWorldHint: false },
  },
  {
    name: "view_cart",
    title: "View cart",
    description: "The contents and total of the customer's cart.",
    inputSchema: {
      type: "object",
      properties: {},
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
];

const INSTRUCTIONS =
  "A ship's chandler. Prices are in euros. Search first: products are identified by their sku.";

const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An error of JSON-RPC. */
export class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What kind of message this is: `request`, `notification` or `response`. */
export function kindOf(message) {
  const wrong = new RpcError(-32600, "Not a JSON-RPC 2.0 message.");
  if (!isObject(message) || message.jsonrpc !== "2.0") throw wrong;
  const { id, method } = message;
  if (typeof method === "string") {
    if (id === undefined) return "notification";
    if (typeof id === "string" || Number.isInteger(id)) return "request";
    throw wrong;
  }
  if (id !== undefined && ("result" in message || "error" in message)) {
    return "response";
  }
  throw wrong;
}

/** The result of a request for the owner of this cart. */
export function answer({ method, params = {} }, cart) {
  if (!isObject(params)) {
    throw new RpcError(-32602, "`params` must be an object.");
  }
  switch (method) {
    case "initialize":
      return {
        protocolVersion: VERSIONS.includes(params.protocolVersion)
          ? params.protocolVersion
          : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: {
          name: "shop",
          title: "Bollard & Daughters",
          version: "1",
        },
        instructions: INSTRUCTIONS,
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return call(params, cart);
    default:
      throw new RpcError(-32601, `Unknown method: ${method}`);
  }
}

function call({ name, arguments: given = {} }, cart) {
  const tool = TOOLS.find((tool) => tool.name === name);
  if (!tool) throw new RpcError(-32602, `Unknown tool: ${name}`);
  try {
    const structuredContent = run(tool, given, cart);
    const text = JSON.stringify(structuredContent);
    return { content: [{ type: "text", text }], structuredContent };
  } catch (error) {
    if (!(error instanceof ShopError)) throw error;
    // The model reads this and may try again.
    const content = [{ type: "text", text: error.message }];
    return { content, isError: true };
  }
}

function run(tool, given, cart) {
  check(tool, given);
  switch (tool.name) {
    case "search": {
      const { query, max_price: maxPrice } = given;
      const products = search({ query, maxPrice });
      return { products: products.map(({ tags: _tags, ...shown }) => shown) };
    }
    case "add_to_cart":
      cart.add(given.sku, given.quantity ?? 1, "assistant");
      return cart.view();
    case "view_cart":
      return cart.view();
  }
}

/** As much of JSON Schema as the tools above use. */
function check({ name, inputSchema }, given) {
  if (!isObject(given))
    throw new ShopError(`The arguments of ${name} must be an object.`);
  for (const key of inputSchema.required ?? []) {
    if (given[key] === undefined)
      throw new ShopError(`${name}: ${key} is missing.`);
  }
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(inputSchema.properties, key)) {
      throw new ShopError(`${name}: unknown argument ${key}.`);
    }
    const { type } = inputSchema.properties[key];
    const fits =
      type === "string"
        ? typeof value === "string" && value.length <= 200
        : Number.isFinite(value) &&
          (type !== "integer" || Number.isInteger(value));
    if (!fits) throw new ShopError(`${name}: ${key} must be of type ${type}.`);
  }
}
