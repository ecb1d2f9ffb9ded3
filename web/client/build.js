// Writes the scripts that the server serves beside its pages: node build.js
import { writeFile } from "node:fs/promises";
import { bundle, SCRIPTS } from "./scripts.js";

const names = /** @type {(keyof typeof SCRIPTS)[]} */ (Object.keys(SCRIPTS));
await Promise.all(
  names.map(async (name) => {
    const { code } = await bundle(name);
    await writeFile(new URL(`../ui/dist/${name}`, import.meta.url), code);
  }),
);
