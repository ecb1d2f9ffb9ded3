// Cuts Markdown into blocks, so that a growing text redraws only the blocks that changed.
import { Lexer, type Token } from "marked";
import { options } from "./render.js";

export class Blocks {
  #settled: Token[] = [];
  #settledText = "";
  #shown: Token[] = [];

  /** The blocks of a text; a block that did not change stays the same object. */
  update(text: string, streaming: boolean): Token[] {
    const clean = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    const tokens = streaming ? this.#grow(clean) : lex(clean);
    const links = "links" in tokens ? Object.keys(tokens.links as object) : [];
    // Definitions at the end may change what an earlier block links to.
    const reuse = links.length === 0;
    this.#shown = tokens.filter(isVisible).map((token, index) => {
      const old = this.#shown[index];
      return reuse && old?.raw === token.raw && old.type === token.type
        ? old
        : token;
    });
    return this.#shown;
  }

  #grow(text: string): Token[] {
    if (!text.startsWith(this.#settledText)) {
      this.#settled = [];
      this.#settledText = "";
    }
    const tail: Token[] = lex(text.slice(this.#settledText.length));
    // The last block is growing, and the one before may still join it.
    while (tail.filter(isVisible).length > 2) {
      const [first] = tail.splice(0, 1);
      if (!first) break;
      this.#settled.push(first);
      this.#settledText += first.raw;
    }
    return [...this.#settled, ...tail];
  }
}

// Runs of these make the lexer recurse without end or take minutes; no real text has them.
const ENDLESS_RUN = /([_*~`>[(])\1{999}/;

/** The blocks of a text; one that Markdown cannot cope with is shown as it is written. */
function lex(text: string): Token[] {
  const plain: Token = { type: "code", raw: text, text, lang: "" };
  if (ENDLESS_RUN.test(text)) return [plain];
  try {
    return new Lexer(options).lex(text);
  } catch {
    // Nested too deeply for the stack.
    return [plain];
  }
}

function isVisible(token: Token): boolean {
  return token.type !== "space" && token.type !== "def";
}
