// Files that went with a message, which the server names at its end.

const LINE = /(?:^|\n\n)\[Attached file: ([^\]\n]+)\]$/;

/** The words of a message, and the names of its files. */
export function splitAttached(content: string): {
  words: string;
  files: string[];
} {
  const files: string[] = [];
  let words = content;
  for (;;) {
    const found = LINE.exec(words);
    if (!found?.[1]) return { words, files };
    files.unshift(found[1].split("/").at(-1) ?? found[1]);
    words = words.slice(0, found.index);
  }
}
