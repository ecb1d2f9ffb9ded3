// Every script that the server serves beside its pages, by the name of its file in ../ui/dist.
import { fileURLToPath } from "node:url";
import { build } from "vite";

/**
 * @typedef {object} Script
 * @property {string} entry
 * @property {string} [global] A classic script keeps its exports in this variable; without it, the script is a module.
 * @property {(code: string) => string} [finish] Checks and changes what was bundled.
 */

/** @satisfies {Record<string, Script>} */
export const SCRIPTS = {
  // Applets: the channel as a module and as a classic script, and what confines an applet's frame, inlined in its page.
  "applet.js": { entry: "applet/applet.ts" },
  "applet.global.js": { entry: "applet/applet.ts", global: "GangwayApplet" },
  "confine.js": { entry: "applet/confine.ts", global: "confine" },
  // Launched apps: what each page begins with, inlined, and the library for them.
  "context.js": {
    entry: "context/runtime.ts",
    global: "GangwayAgent",
    finish: expression,
  },
  "agent.js": { entry: "context/agent.ts" },
  "agent.global.js": { entry: "context/agent.ts", global: "GangwayAgent" },
  // Sites: `window.ai` and `window.agent`, and the broker in the hidden frame.
  "gangway.js": {
    entry: "web-agent/script.ts",
    global: "Gangway",
    finish: origin,
  },
  "broker.js": { entry: "web-agent/broker-script.ts", global: "Gangway" },
  // Pages that hold the chat of a remote agent.
  "embed.js": { entry: "embed/script.ts", global: "Gangway" },
  // Pages that external agents see and use.
  "host.js": { entry: "host/index.ts" },
  "host.global.js": { entry: "host/index.ts", global: "GangwayHost" },
};

/** One script, bundled: its code, and what it still imports.
 * @param {keyof typeof SCRIPTS} name
 */
export async function bundle(name) {
  /** @type {Script} */
  const { entry, global, finish } = SCRIPTS[name];
  const result = await build({
    root: fileURLToPath(new URL(".", import.meta.url)),
    configFile: false,
    logLevel: "warn",
    plugins: [
      {
        name: "finish",
        generateBundle(_options, files) {
          for (const file of Object.values(files)) {
            if (finish && file.type === "chunk") file.code = finish(file.code);
          }
        },
      },
    ],
    build: {
      target: "es2022",
      write: false,
      minify: true,
      lib: {
        entry: `src/${entry}`,
        ...(global && { name: global }),
        formats: [global ? "iife" : "es"],
        fileName: () => name,
      },
    },
  });
  const [made] = Array.isArray(result) ? result : [result];
  if (!made || !("output" in made) || made.output.length !== 1) {
    throw new Error(`${name} is more than one file`);
  }
  const { code, imports } = made.output[0];
  return { code, imports };
}

/** Leaves only the function: the server writes `(`, this file, `)(`, the parameters of the page, `)`.
 * @param {string} code
 */
function expression(code) {
  const found = /^var GangwayAgent=([^]*?);?\s*$/.exec(code);
  if (!found?.[1]) throw new Error("context.js is not one expression");
  if (/<\/script|<!--/i.test(found[1])) {
    throw new Error("context.js cannot be inlined in a page");
  }
  return found[1];
}

/** The server writes its origin over this word, so it has to be there once, in double quotes.
 * @param {string} code
 */
function origin(code) {
  const parts = code.split(/["'`]__GANGWAY_ORIGIN__["'`]/);
  if (parts.length !== 2) throw new Error("gangway.js names no origin");
  return parts.join('"__GANGWAY_ORIGIN__"');
}
