// The programs in this folder were written from the specifications alone; tests hand them to the product as they are.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The text of one of these files. */
export const read = (name: string) => readFile(path(name), "utf8");

/** Where one of these files is. */
export { path };

/** The files below a folder, by their paths in it. */
export async function readAll(folder: string): Promise<Record<string, string>> {
  const found = await readdir(path(folder), {
    recursive: true,
    withFileTypes: true,
  });
  const files: Record<string, string> = {};
  for (const entry of found.filter((entry) => entry.isFile())) {
    const full = `${entry.parentPath}/${entry.name}`;
    files[full.slice(path(folder).length + 1)] = await readFile(full, "utf8");
  }
  return files;
}
