// The shop: its shelves, the cart, and the way in for an assistant.
import { setUp } from "./assistant.js";
import { offer, pageTools } from "./tools.js";
import { changeWords, price } from "./words.js";

const $ = (id) => document.getElementById(id);

let view = { lines: [], total: 0 };

function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, props);
  element.append(...children);
  return element;
}

function drawing(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

function shelf(products) {
  $("products").replaceChildren(
    ...products.map(({ sku, name, price: amount, about }) => {
      const add = make("button", { type: "button" }, "Add to cart");
      add.setAttribute("aria-label", `Add ${name} to cart`);
      add.addEventListener("click", () => void change(sku, countOf(sku) + 1));
      const item = make(
        "li",
        { className: "product" },
        drawing(sku),
        make("h3", {}, name),
        make("p", { className: "quiet" }, about),
        make("p", { className: "buy" }, make("strong", {}, price(amount)), add),
      );
      item.dataset.sku = sku;
      return item;
    }),
  );
}

const countOf = (sku) =>
  view.lines.find((line) => line.sku === sku)?.quantity ?? 0;

async function change(sku, quantity) {
  try {
    const answer = await fetch("/cart", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sku, quantity }),
    });
    if (!answer.ok) tell((await answer.json()).error);
  } catch {
    tell("The shop is not responding. Check that its server is running.");
  }
}

function tell(words) {
  $("status").textContent = words;
}

function showCart(change) {
  $("empty").hidden = view.lines.length > 0;
  $("total").hidden = view.lines.length === 0;
  $("total").lastElementChild.textContent = price(view.total);
  $("cart").replaceChildren(
    ...view.lines.map(({ sku, name, quantity, sum }) => {
      const button = (words, label, to) => {
        const made = make("button", { type: "button" }, words);
        made.setAttribute("aria-label", `${label} ${name}`);
        made.addEventListener("click", () => void setCount(sku, label, to));
        made.dataset.label = label;
        return made;
      };
      const line = make(
        "li",
        {},
        make("span", { className: "name" }, name),
        button("−", "One less:", quantity - 1),
        make("span", { className: "count" }, `${quantity}`),
        button("+", "One more:", quantity + 1),
        make("span", { className: "sum" }, price(sum)),
      );
      line.dataset.sku = sku;
      if (change?.sku === sku && change.by === "assistant") {
        line.classList.add("new");
      }
      return line;
    }),
  );
  if (focus) {
    const line = $("cart").querySelector(`[data-sku="${focus.sku}"]`);
    line?.querySelector(`[data-label="${focus.label}"]`)?.focus();
    focus = null;
  }
}

/** The button that was pressed is redrawn with its line. */
let focus = null;

async function setCount(sku, label, to) {
  focus = { sku, label };
  await change(sku, to);
}

/** Brings a product before the customer's eyes. */
function highlight(sku) {
  for (const item of $("products").children) {
    const meant = item.dataset.sku === sku;
    item.classList.toggle("shown", meant);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (meant) {
      item.scrollIntoView({
        block: "center",
        behavior: calm ? "auto" : "smooth",
      });
      tell(`The assistant shows you: ${item.querySelector("h3").textContent}`);
    }
  }
}

function watch() {
  const events = new EventSource("/cart/events");
  events.onmessage = ({ data }) => {
    const { change, ...now } = JSON.parse(data);
    view = now;
    showCart(change);
    if (change) tell(changeWords(change));
  };
  events.onerror = () => {
    // The browser comes back by itself, unless the shop sent it away.
    if (events.readyState === EventSource.CLOSED) {
      tell("The cart has expired. Reload the page.");
    }
  };
}

setUp();
const products = await (await fetch("/products.json")).json();
shelf(products);
watch();
await offer(
  document.modelContext,
  pageTools({ products, show: highlight, cart: () => view }),
);
