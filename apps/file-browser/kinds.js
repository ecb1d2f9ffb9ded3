// What can be shown of a file, and how its size and time read.

const PICTURES = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  // As a picture an SVG runs no script.
  svg: "image/svg+xml",
};

/** The media type of a picture, if the name is one's. */
export function pictureType(name) {
  const ending = /\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? "";
  return Object.hasOwn(PICTURES, ending) ? PICTURES[ending] : undefined;
}

/** Bytes that a text would not have. */
export function looksBinary(bytes) {
  return bytes.subarray(0, 4096).includes(0);
}

export function readableSize(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  let size = bytes;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}

/** Folders first, then by name as people count: file 2 before file 10. */
export function inOrder(entries) {
  const names = new Intl.Collator(undefined, {
    numeric: true,
    sensitivity: "base",
  });
  const rank = ({ kind }) => (kind === "folder" ? 0 : 1);
  return [...entries].sort(
    (a, b) => rank(a) - rank(b) || names.compare(a.name, b.name),
  );
}

/** A name for a dropped file that is not taken, as `photo (2).png`. */
export function freeName(name, taken) {
  if (!taken.has(name)) return name;
  const [, stem, ending] = /^(.*?)(\.[^.]*)?$/s.exec(name);
  for (let count = 2; ; count += 1) {
    const next = `${stem} (${count})${ending ?? ""}`;
    if (!taken.has(next)) return next;
  }
}
