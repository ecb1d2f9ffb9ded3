// Words without end: a browser takes seconds to break them by itself, and none where it is told.

const LONGEST = 500;
const LONG_WORD = new RegExp(`\\S{${LONGEST}}`);
const PIECES = new RegExp(`\\S{1,${LONGEST}}|\\s+`, "g");

/** Whether a text holds a word that should be told where to break. */
export function isLong(text: string): boolean {
  return LONG_WORD.test(text);
}

/** The text with places to break in its long words. */
export function breakable(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const piece of text.match(PIECES) ?? []) {
    fragment.append(piece, document.createElement("wbr"));
  }
  return fragment;
}
