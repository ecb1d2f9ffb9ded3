// Makes elements without markup in strings, so that nothing an agent writes becomes markup.

type Child = Node | string | null | false;
type Attributes = Record<string, string | boolean | number | undefined>;

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(
    ...children.filter((child) => child !== null && child !== false),
  );
  return element;
}

/** A button that is the same one after everything is redrawn, as far as the focus is concerned. */
export function button(
  key: string,
  attributes: Attributes,
  onClick: () => void,
  ...children: Child[]
): HTMLButtonElement {
  const made = make(
    "button",
    { type: "button", "data-key": key, ...attributes },
    ...children,
  );
  made.addEventListener("click", onClick);
  return made;
}

/** The element of the page with this id; a page without it is a mistake of ours. */
export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`No element with the id ${id}.`);
  return found as T;
}

/** Redraws without taking the focus from what is there before and after. */
export function keepFocus(box: HTMLElement, draw: () => void): void {
  const active = document.activeElement;
  const key =
    active instanceof HTMLElement && box.contains(active)
      ? active.dataset["key"]
      : undefined;
  draw();
  if (key === undefined) return;
  const again = box.querySelector<HTMLElement>(
    `[data-key="${CSS.escape(key)}"]`,
  );
  again?.focus({ preventScroll: true });
}

/** One stop for the Tab key, and arrows from there to whatever lies in that direction. */
export function arrows(box: HTMLElement): void {
  const all = [...box.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  const first =
    all.find((each) =>
      each.matches('[aria-checked="true"], [aria-pressed="true"]'),
    ) ?? all[0];
  for (const each of all) each.tabIndex = each === first ? 0 : -1;
  box.addEventListener("focusin", ({ target }) => {
    for (const each of all) each.tabIndex = each === target ? 0 : -1;
  });
  box.addEventListener("keydown", (event) => {
    const from = event.target as HTMLElement;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const to =
      event.key === "Home"
        ? all[0]
        : event.key === "End"
          ? all.at(-1)
          : nearest(all, from, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  });
}

const WAYS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function nearest(
  all: HTMLElement[],
  from: HTMLElement,
  key: string,
): HTMLElement | undefined {
  const way = WAYS[key];
  if (!way) return undefined;
  const at = centre(from);
  let best: { element: HTMLElement; cost: number } | undefined;
  for (const element of all) {
    if (element === from) continue;
    const there = centre(element);
    const [dx, dy] = [there.x - at.x, there.y - at.y];
    const along = dx * way[0] + dy * way[1];
    if (along < 4) continue;
    // What lies straight ahead counts before what is nearer but beside.
    const cost = along + 4 * Math.abs(dx * way[1] + dy * way[0]);
    if (!best || cost < best.cost) best = { element, cost };
  }
  return best?.element;
}

function centre(element: HTMLElement): { x: number; y: number } {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}
