// The text of a page that is worth reading, out of its HTML.
import { isProbablyReaderable, Readability } from "@mozilla/readability";
import type { ActiveTabReadability } from "./api.js";

const MAX_TEXT = 50_000;
const CUT = "\n[cut]";
// A page with more is read without looking for its main part.
const MAX_ELEMENTS = 50_000;

/** From here on a text is as long as an article. */
const LONG = 1_500;

/** What stands on lines of its own. */
const BLOCKS =
  "address, article, aside, blockquote, br, caption, dd, details, div, dl, dt, figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, p, pre, section, summary, table, tr, ul";

export function readable(page: {
  html: string;
  url: string;
  title: string;
}): ActiveTabReadability {
  const { html, url, title } = page;
  const whole = textOf(html);
  const found = mainPart(html);
  const article = found && isMain(found.text, whole) ? found : null;
  const text = article?.text || whole;
  return { url, title: title || article?.title || "", text: cut(text) };
}

/** Less is a scrap of a page that is no article. */
function isMain(part: string, whole: string): boolean {
  const least = part.length >= LONG ? 0.25 : 0.5;
  return part.length >= whole.length * least;
}

function mainPart(html: string): { title: string; text: string } | null {
  try {
    if (!isProbablyReaderable(parse(html))) return null;
    const found = new Readability(parse(html), {
      maxElemsToParse: MAX_ELEMENTS,
    }).parse();
    if (!found?.content) return null;
    return { title: found.title ?? "", text: textOf(found.content) };
  } catch {
    return null;
  }
}

function parse(html: string): Document {
  return new DOMParser().parseFromString(html, "text/html");
}

function textOf(html: string): string {
  const page = parse(html);
  for (const block of page.querySelectorAll(BLOCKS)) {
    block.before("\n");
    block.append("\n");
  }
  for (const cell of page.querySelectorAll("td, th")) cell.append(" ");
  return page.body.textContent
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  // Not between the halves of one character.
  const whole = text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, "");
  return whole + CUT;
}
