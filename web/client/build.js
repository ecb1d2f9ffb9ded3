// Writes the scripts that the server serves beside its pages, and the example agents that commands in the chat run: node build.js
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import ts from "typescript";
import { bundle, SCRIPTS } from "./scripts.js";

const dist = new URL("../ui/dist/", import.meta.url);

const names = /** @type {(keyof typeof SCRIPTS)[]} */ (Object.keys(SCRIPTS));
await Promise.all(
  names.map(async (name) => {
    const { code } = await bundle(name);
    await writeFile(new URL(name, dist), code);
  }),
);

const examples = new URL("../../examples/", import.meta.url);
await mkdir(new URL("examples/", dist), { recursive: true });
await copyFile(
  new URL("python-agent/agent.py", examples),
  new URL("examples/agent.py", dist),
);
const agent = new URL("typescript-agent/agent.ts", examples);
const { outputText } = ts.transpileModule(await readFile(agent, "utf8"), {
  compilerOptions: {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
  },
});
await writeFile(new URL("examples/agent.mjs", dist), outputText);
