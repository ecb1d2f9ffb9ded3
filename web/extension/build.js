// Builds dist/chromium, dist/firefox and a zip of each: node build.js
import { readFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { build, defaultClientConditions } from "vite";
import { inert } from "./inert.js";
import { manifest } from "./manifest.js";
import { zip } from "./zip.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const web = join(here, "..");
const dist = join(here, "dist");
const files = join(dist, "files");
const { version } = /** @type {{ version: string }} */ (
  JSON.parse(readFileSync(join(here, "package.json"), "utf8"))
);

const PAGES = ["popup", "panel", "permit", "chat", "install"];
// Content scripts and the background are classic scripts: each one file with everything in it.
const SCRIPTS = ["background", "content", "page", "read"];
/** The variable that each of them has for what it exports. */
const NAME = "Gangway";

const conditions = ["@gangway/source", ...defaultClientConditions];
/** @satisfies {import("vite").InlineConfig} */
const common = {
  root: here,
  configFile: false,
  logLevel: "warn",
  resolve: { conditions },
};

/** @type {import("svelte/compiler").CompileOptions} */
const compilerOptions = {
  // Nothing of a component is parsed as text.
  fragments: "tree",
  // What is made of names of files is the same wherever this folder is.
  rootDir: web,
  cssHash: ({ hash, filename }) =>
    `s-${hash(relative(web, resolve(web, filename)))}`,
};

await rm(dist, { recursive: true, force: true });
await build({
  ...common,
  plugins: [svelte({ compilerOptions }), inert()],
  // Extension pages are loaded from a folder of any name.
  base: "./",
  build: {
    target: "es2023",
    cssTarget: ["chrome123", "firefox142"],
    outDir: files,
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: { input: PAGES.map((name) => join(here, `${name}.html`)) },
  },
});
for (const name of SCRIPTS) {
  await build({
    ...common,
    plugins: [inert()],
    build: {
      target: "es2023",
      outDir: files,
      emptyOutDir: false,
      minify: true,
      // The exported value of a script.
      rollupOptions: { output: name === "read" ? { postFooter: NAME } : {} },
      lib: {
        entry: join(here, `src/${name}.ts`),
        name: NAME,
        formats: ["iife"],
        fileName: () => `${name}.js`,
      },
    },
  });
}
await cp(join(here, "icons"), join(files, "icons"), { recursive: true });

for (const browser of /** @type {const} */ (["chromium", "firefox"])) {
  const folder = join(dist, browser);
  await mkdir(folder);
  await cp(files, folder, { recursive: true });
  const text = JSON.stringify(manifest(browser, version), null, 2) + "\n";
  await writeFile(join(folder, "manifest.json"), text);
  const name = `gangway-${browser}-${version}.zip`;
  await writeFile(join(dist, name), zip(await read(folder)));
  console.log(`web/extension/dist/${name}`);
}
await rm(files, { recursive: true });

/** @param {string} folder */
async function read(folder) {
  /** @type {Map<string, Buffer>} */
  const found = new Map();
  const options = /** @type {const} */ ({
    recursive: true,
    withFileTypes: true,
  });
  for (const entry of await readdir(folder, options)) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join("/");
    found.set(name, await readFile(path));
  }
  return found;
}
