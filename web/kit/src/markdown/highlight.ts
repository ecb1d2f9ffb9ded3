// Colours code; the highlighter is loaded when the first block needs it.
import type { HLJSApi } from "highlight.js";

// Longer code stays plain: colouring it would be felt.
const LONGEST = 50_000;
// Blocks are drawn again when a message ends; their colours are kept until then.
const KEPT = 200;

let engine: HLJSApi | undefined;
let loading: Promise<HLJSApi> | undefined;
const cache = new Map<string, string>();

export async function highlight(
  code: HTMLElement,
  lang: string,
): Promise<void> {
  const text = code.textContent;
  if (text.length > LONGEST) return;
  const key = `${lang}\n${text}`;
  const known = cache.get(key);
  if (known !== undefined) {
    code.innerHTML = known;
    return;
  }
  engine ??= await (loading ??= import("./languages.js").then(
    (module) => module.default,
  ));
  if (!engine.getLanguage(lang)) return;
  const html = engine.highlight(text, { language: lang }).value;
  if (cache.size >= KEPT) cache.clear();
  cache.set(key, html);
  code.innerHTML = html;
}
