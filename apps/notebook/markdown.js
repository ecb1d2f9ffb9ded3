// A small Markdown: text becomes a tree of plain data, and the tree becomes elements. No HTML is ever parsed.

const LIST = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const TASK = /^\[([ xX])\]\s+(.*)$/;
const FENCE = /^\s{0,3}(```+|~~~+)\s*(\S*)/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
// Deeper lists and quotes are shown flat: they are unreadable, and the stack is limited.
const DEEPEST = 12;

/** Blocks of a text; `line` says where a task stands, from `first`. */
export function parse(text, first = 0, depth = 0) {
  const lines = text.split(/\r?\n/);
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
    if (line.trim() === "") at += 1;
    else if (fence) {
      const code = [];
      for (
        at += 1;
        at < lines.length && !lines[at].trim().startsWith(fence[1]);
        at += 1
      )
        code.push(lines[at]);
      at += 1;
      blocks.push({ kind: "code", text: code.join("\n") });
    } else if (heading) {
      blocks.push({
        kind: "heading",
        level: heading[1].length,
        inner: inline(heading[2]),
      });
      at += 1;
    } else if (RULE.test(line)) {
      blocks.push({ kind: "rule" });
      at += 1;
    } else if (/^\s{0,3}>/.test(line) && depth < DEEPEST) {
      const start = at;
      const quoted = [];
      while (at < lines.length && /^\s{0,3}>/.test(lines[at]))
        quoted.push(lines[at++].replace(/^\s{0,3}>\s?/, ""));
      blocks.push({
        kind: "quote",
        blocks: parse(quoted.join("\n"), first + start, depth + 1),
      });
    } else if (LIST.test(line) && depth < DEEPEST) {
      const [list, next] = parseList(lines, at, first, depth);
      blocks.push(list);
      at = next;
    } else if (
      line.includes("|") &&
      DIVIDER.test(lines[at + 1] ?? "") &&
      lines[at + 1].includes("-")
    ) {
      const rows = [cells(line)];
      for (at += 2; at < lines.length && lines[at].includes("|"); at += 1)
        rows.push(cells(lines[at]));
      blocks.push({ kind: "table", rows });
    } else {
      const words = [line.trim()];
      for (at += 1; at < lines.length && !startsBlock(lines[at]); at += 1)
        words.push(lines[at].trim());
      blocks.push({ kind: "paragraph", inner: inline(words.join("\n")) });
    }
  }
  return blocks;
}

function startsBlock(line) {
  return (
    line.trim() === "" ||
    LIST.test(line) ||
    FENCE.test(line) ||
    RULE.test(line) ||
    /^\s{0,3}(#{1,6}\s|>)/.test(line)
  );
}

function parseList(lines, start, first, depth) {
  const [, indent, mark] = LIST.exec(lines[start]);
  const ordered = /\d/.test(mark);
  const items = [];
  let at = start;
  while (at < lines.length) {
    const found = LIST.exec(lines[at]);
    if (
      !found ||
      found[1].length !== indent.length ||
      /\d/.test(found[2]) !== ordered
    )
      break;
    const task = TASK.exec(found[3]);
    const item = {
      inner: inline(task ? task[2] : found[3]),
      line: first + at,
      blocks: [],
    };
    if (task) item.done = task[1] !== " ";
    const inside = [];
    for (at += 1; at < lines.length; at += 1) {
      const deeper = /^\s*/.exec(lines[at])[0].length > indent.length;
      const goesOn =
        lines[at].trim() === "" && /^\s+\S/.test(lines[at + 1] ?? "");
      if (!deeper && !goesOn) break;
      inside.push(
        lines[at].slice(
          Math.min(indent.length + 2, /^\s*/.exec(lines[at])[0].length),
        ),
      );
    }
    if (inside.length > 0)
      item.blocks = parse(inside.join("\n"), item.line + 1, depth + 1);
    items.push(item);
  }
  return [
    { kind: "list", ordered, start: ordered ? parseInt(mark, 10) : 1, items },
    at,
  ];
}

function cells(line) {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => inline(cell.trim()));
}

// What is marked is bounded, so that a mark without its partner is looked for only so far.
const INLINE =
  /(`{1,3})(.{1,400}?)\1|!?\[([^\]\n]{0,300})\]\(([^()\s]{0,400})\)|\*\*(?=\S)(.{1,400}?)\*\*|__(?=\S)(.{1,400}?)__|\*(?=\S)([^*]{1,400}?)\*|\b_(?=\S)([^_]{1,400}?)_\b|~~(.{1,400}?)~~|\\([\\`*_{}[\]()#+.!~|-])/gs;
const LONGEST = 20_000;

/** Pieces of a line: strings, and {kind, inner} or {kind, text}. */
export function inline(text, depth = 0) {
  if (depth > DEEPEST || text.length > LONGEST) return [text];
  const pieces = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > last) pieces.push(text.slice(last, match.index));
    last = match.index + match[0].length;
    const [
      whole,
      ,
      code,
      label,
      target,
      bold,
      bold2,
      italic,
      italic2,
      struck,
      escaped,
    ] = match;
    const deeper = (words) => inline(words, depth + 1);
    if (code !== undefined)
      pieces.push({ kind: "code", text: code.trim() || code });
    else if (label !== undefined) {
      pieces.push({
        kind: whole.startsWith("!") ? "image" : "link",
        inner: deeper(label),
        target,
      });
    } else if (escaped !== undefined) pieces.push(escaped);
    else if (struck !== undefined)
      pieces.push({ kind: "struck", inner: deeper(struck) });
    else if (bold !== undefined || bold2 !== undefined)
      pieces.push({ kind: "bold", inner: deeper(bold ?? bold2) });
    else pieces.push({ kind: "italic", inner: deeper(italic ?? italic2) });
  }
  if (last < text.length) pieces.push(text.slice(last));
  return pieces;
}

/** The text with the task at `line` ticked or not. */
export function tick(text, line, done) {
  const lines = text.split("\n");
  if (lines[line] === undefined) return text;
  lines[line] = lines[line].replace(/\[[ xX]\]/, done ? "[x]" : "[ ]");
  return lines.join("\n");
}

const TAGS = { bold: "strong", italic: "em", struck: "s", code: "code" };

/** Elements for blocks; `onTick` is called for a task's checkbox. */
export function render(blocks, onTick) {
  return blocks.map((block) => {
    switch (block.kind) {
      case "heading":
        return element(`h${block.level}`, pieces(block.inner));
      case "code":
        return element("pre", [element("code", [block.text])]);
      case "rule":
        return element("hr", []);
      case "quote":
        return element("blockquote", render(block.blocks, onTick));
      case "list":
        return list(block, onTick);
      case "table":
        return table(block);
      default:
        return element("p", pieces(block.inner));
    }
  });
}

function element(tag, children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

function list({ ordered, start, items }, onTick) {
  const made = element(
    ordered ? "ol" : "ul",
    items.map((item) => {
      const inside = [...pieces(item.inner), ...render(item.blocks, onTick)];
      if (item.done === undefined) return element("li", inside);
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = item.done;
      box.addEventListener("change", () => onTick(item.line, box.checked));
      const label = element("label", [box, " ", ...pieces(item.inner)]);
      const made = element("li", [label, ...render(item.blocks, onTick)]);
      made.className = "task";
      return made;
    }),
  );
  if (ordered) made.start = start;
  return made;
}

function table({ rows: [head, ...rows] }) {
  const row = (tag) => (cells) =>
    element(
      "tr",
      cells.map((cell) => element(tag, pieces(cell))),
    );
  const made = element("table", [
    element("thead", [row("th")(head)]),
    element("tbody", rows.map(row("td"))),
  ]);
  const scroller = element("div", [made]);
  scroller.className = "scroller";
  return scroller;
}

function pieces(list) {
  return list.map((piece) => {
    if (typeof piece === "string") return document.createTextNode(piece);
    if (piece.kind === "link" || piece.kind === "image") {
      // A frame without a network has nowhere to go: the address is shown, not followed.
      const made = element("span", pieces(piece.inner));
      made.className = piece.kind;
      made.title = piece.target;
      return made;
    }
    return element(
      TAGS[piece.kind],
      piece.text === undefined ? pieces(piece.inner) : [piece.text],
    );
  });
}
