// Makes elements without markup in strings, so that nothing an agent writes becomes markup.

type Child = Node | string;

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | boolean | number> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

export function button(
  words: string,
  onClick: () => void,
  attributes: Record<string, string | boolean | number> = {},
): HTMLButtonElement {
  const made = make("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", onClick);
  return made;
}

/** The element of the page with this id; a page without it is a mistake of ours. */
export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`No element with the id ${id}.`);
  return found as T;
}
