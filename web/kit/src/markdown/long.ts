// Very long words: a browser takes seconds to break them, unless break opportunities are given.

const LONGEST = 500;
const LONG_WORD = new RegExp(`\\S{${LONGEST}}`);
const PARTS = new RegExp(`\\S{1,${LONGEST}}|\\s+`, "g");

/** Whether a text contains a word that needs break opportunities. */
export function isLong(text: string): boolean {
  return LONG_WORD.test(text);
}

/** The text with break opportunities in its long words. */
export function breakable(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const part of text.match(PARTS) ?? []) {
    fragment.append(part, document.createElement("wbr"));
  }
  return fragment;
}
