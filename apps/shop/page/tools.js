// Tools that this page itself carries out for an agent (WebMCP).

/** `show` brings a product before the customer's eyes, `cart` is what the page shows as the cart. */
export function pageTools({ products, show, cart }) {
  const known = products.map(({ sku }) => sku);
  return [
    {
      name: "highlight_product",
      description:
        "Scrolls the shop's page to a product and marks it, so that the customer sees it.",
      inputSchema: {
        type: "object",
        properties: { sku: { type: "string", enum: known } },
        required: ["sku"],
      },
      execute({ sku }) {
        if (!known.includes(sku)) {
          throw new Error(
            `Unknown product: ${sku}. Known products: ${known.join(", ")}.`,
          );
        }
        show(sku);
        return { shown: sku };
      },
    },
    {
      name: "get_cart",
      description: "The cart as the customer sees it on the page right now.",
      inputSchema: { type: "object", properties: {} },
      annotations: { readOnlyHint: true },
      execute: () => cart(),
    },
  ];
}

/** Registers them where the browser or Gangway has a place for them. */
export async function offer(context, tools) {
  for (const tool of tools) await context?.registerTool(tool);
}
