// What the shop sells, and the carts of its customers.
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";

export const PRODUCTS = [
  {
    sku: "lantern",
    name: "Storm lantern",
    price: 34,
    about: "Burns through wind and spray. Comes with a second glass.",
    tags: ["light", "lamp", "night", "brass"],
  },
  {
    sku: "rope",
    name: "Mooring rope, 20 m",
    price: 28,
    about: "Three strands, an eye at one end, kind to hands.",
    tags: ["line", "mooring", "knot"],
  },
  {
    sku: "kettle",
    name: "Galley kettle",
    price: 22,
    about: "A wide foot, so that it stays where it stands.",
    tags: ["tea", "cooking", "galley", "gift"],
  },
  {
    sku: "oilskin",
    name: "Oilskin coat",
    price: 79,
    about: "Yellow, long, with pockets for both mittens.",
    tags: ["rain", "clothes", "jacket", "weather"],
  },
  {
    sku: "compass",
    name: "Pocket compass",
    price: 41,
    about: "Swings free up to a good heel, glows for an hour.",
    tags: ["navigation", "north", "gift"],
  },
  {
    sku: "biscuits",
    name: "Tin of ship's biscuits",
    price: 9,
    about: "Forty of them. Dip before use.",
    tags: ["food", "snack", "gift"],
  },
  {
    sku: "flags",
    name: "Set of signal flags",
    price: 56,
    about: "All forty, sewn, with a card that says what they say.",
    tags: ["signal", "party", "decoration"],
  },
  {
    sku: "fender",
    name: "Rope fender",
    price: 19,
    about: "Keeps the paint on your side of the quay.",
    tags: ["mooring", "boat", "knot"],
  },
];

/** Of one thing in one cart. */
export const MOST = 20;

/** Carts that are kept; the one that was unused for longest goes first. */
const CARTS = 1000;

const byEnglishName = (a, b) => a.name.localeCompare(b.name, "en");

/** Products that have every word somewhere, the cheapest limit kept. */
export function search({ query = "", maxPrice = Infinity } = {}) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ name, about, tags }, word) =>
    `${name} ${about} ${tags.join(" ")}`.toLowerCase().includes(word);
  return PRODUCTS.filter((product) => product.price <= maxPrice)
    .filter((product) => words.every((word) => has(product, word)))
    .sort(byEnglishName);
}

/** An error that a customer can read. */
export class ShopError extends Error {}

/** One customer's cart; says `change` when something in it changed. */
export class Cart extends EventEmitter {
  #quantities = new Map();

  /** Sets how many of a product there are; `by` says who did that. */
  set(sku, quantity, by) {
    const product = PRODUCTS.find((product) => product.sku === sku);
    if (!product) {
      const known = PRODUCTS.map(({ sku }) => sku).join(", ");
      throw new ShopError(`Unknown product: ${sku}. Known products: ${known}.`);
    }
    if (!Number.isInteger(quantity) || quantity < 0 || quantity > MOST) {
      throw new ShopError(
        `${product.name}: the quantity must be a whole number from 0 to ${MOST}.`,
      );
    }
    const before = this.#quantities.get(sku) ?? 0;
    if (quantity === 0) this.#quantities.delete(sku);
    else this.#quantities.set(sku, quantity);
    if (quantity !== before) {
      const change = { sku, name: product.name, before, now: quantity, by };
      this.emit("change", { ...this.view(), change });
    }
  }

  /** Puts more of a product in. */
  add(sku, quantity, by) {
    if (!Number.isInteger(quantity) || quantity < 1) {
      throw new ShopError("The quantity must be a whole number of at least 1.");
    }
    this.set(sku, (this.#quantities.get(sku) ?? 0) + quantity, by);
  }

  view() {
    const lines = PRODUCTS.filter(({ sku }) => this.#quantities.has(sku)).map(
      ({ sku, name, price }) => {
        const quantity = this.#quantities.get(sku);
        return { sku, name, price, quantity, sum: price * quantity };
      },
    );
    return { lines, total: lines.reduce((sum, line) => sum + line.sum, 0) };
  }
}

/** All carts, by names that nobody guesses. */
export class Carts {
  #carts = new Map();
  #most;

  constructor(most = CARTS) {
    this.#most = most;
  }

  open() {
    const id = randomUUID();
    const cart = new Cart();
    // A customer may have the shop open in many tabs.
    cart.setMaxListeners(0);
    this.#carts.set(id, cart);
    if (this.#carts.size > this.#most) {
      const [oldest] = this.#carts.keys();
      this.#carts.delete(oldest);
    }
    return id;
  }

  find(id) {
    const cart = this.#carts.get(id);
    if (!cart) return null;
    // Used last, so that it goes last.
    this.#carts.delete(id);
    this.#carts.set(id, cart);
    return cart;
  }
}
