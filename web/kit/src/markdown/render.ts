// Turns one Markdown block into safe DOM: nothing runs, nothing loads, links leave safely.
import DOMPurify from "dompurify";
import { Marked, Parser, type Token } from "marked";
import { codeElement } from "./code.js";
import { breakable, isLong } from "./long.js";

// HTML tags that people and models write on purpose; any other is shown as text.
const KEPT = "br|sub|sup|kbd|mark|del|ins|details|summary";
const OTHER_TAG = new RegExp(`<(?!/?(?:${KEPT})\\s*/?>)`, "gi");

const marked = new Marked({
  gfm: true,
  renderer: {
    // The page's own title is its first level.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 1, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    html: ({ text }) => text.replace(OTHER_TAG, "&lt;"),
    // A remote image would reveal the reader to its server: it becomes a link.
    image({ href, text }) {
      const label = text || "image";
      return /^https?:/i.test(href)
        ? `<a href="${escape(href)}">${escape(label)}</a>`
        : escape(label);
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

export const options = marked.defaults;

const SAFE = {
  RETURN_DOM_FRAGMENT: true,
  ALLOWED_TAGS: [
    ...["p", "h2", "h3", "h4", "h5", "h6", "blockquote", "hr", "br"],
    ...["ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"],
    ...["strong", "em", "del", "ins", "code", "pre", "a", "#text"],
    ...["sub", "sup", "kbd", "mark", "details", "summary"],
  ],
  ALLOWED_ATTR: ["href", "title", "align", "start", "class"],
  ADD_URI_SAFE_ATTR: ["align", "start"],
  // Addresses elsewhere, and applets to open beside this chat.
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto):|\/\?applet=[a-z0-9-]+$)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
} as const;

/** Draws a block into an element. `settled` blocks will not grow any more. */
export function drawBlock(
  element: HTMLElement,
  block: Token,
  settled: boolean,
): void {
  if (block.type === "code") {
    element.replaceChildren(
      codeElement(String(block["text"]), String(block["lang"] ?? ""), settled),
    );
    return;
  }
  try {
    const html = Parser.parse([block], options);
    const fragment = DOMPurify.sanitize(html, {
      ...SAFE,
      ALLOWED_TAGS: [...SAFE.ALLOWED_TAGS],
      ALLOWED_ATTR: [...SAFE.ALLOWED_ATTR],
      ADD_URI_SAFE_ATTR: [...SAFE.ADD_URI_SAFE_ATTR],
    });
    finish(fragment, settled);
    element.replaceChildren(fragment);
  } catch {
    // Nested too deeply: the text is still shown.
    element.replaceChildren(codeElement(block.raw, "", settled));
  }
}

/** Adds what only we may add, after the text was made safe. */
function finish(fragment: DocumentFragment, settled: boolean): void {
  for (const link of fragment.querySelectorAll("a")) {
    if (link.getAttribute("href")?.startsWith("/?")) continue;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  for (const table of fragment.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table";
    frame.tabIndex = 0;
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const pre of fragment.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const lang = /(?:^| )language-(\S+)/.exec(code?.className ?? "")?.[1] ?? "";
    pre.replaceWith(codeElement(pre.textContent, lang, settled));
  }
  for (const other of fragment.querySelectorAll("[class]")) {
    // Classes of ours are not for texts to use.
    if (!other.closest(".code, .table")) other.removeAttribute("class");
  }
  for (const text of longTexts(fragment))
    text.replaceWith(breakable(text.data));
}

/** Texts outside code with a word so long that finding where to break it takes the browser seconds. */
function longTexts(fragment: DocumentFragment): Text[] {
  const found: Text[] = [];
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    const inCode = text.parentElement?.closest("pre") != null;
    if (!inCode && isLong(text.data)) found.push(text);
  }
  return found;
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");
}
