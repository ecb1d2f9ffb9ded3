// What several tables of channels are made of.
import type { Target } from "./sink.js";

export const text = JSON.stringify;

/** A script that adds an element with attributes to the page, and does something after that. */
export const element = (
  tag: string,
  attributes: (to: Target) => Record<string, string>,
  after = "",
) => ({
  script: (to: Target) => `
    const made = document.createElement(${text(tag)});
    for (const [name, value] of Object.entries(${text(attributes(to))})) made.setAttribute(name, value);
    document.body.append(made);
    ${after}`,
});
