// Small things that every part of the page needs.

export const $ = (id) => document.getElementById(id);

export function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Hands a CSV file to the browser. */
export function download(filename, content) {
  const url = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  make("a", { href: url, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return "download";
}
