// Builds the page of replay files: one HTML file with its script and styles inside, and room for a recording.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { build, defaultClientConditions, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const CONDITIONS = ["@gangway/source", ...defaultClientConditions];
// Where the server has it, see src/replay/file.ts.
const FILE = "replay-file.html";

export function replayFile(): Plugin {
  return {
    name: "gangway-replay-file",
    apply: "build",
    async generateBundle() {
      const source = await replayPage();
      this.emitFile({ type: "asset", fileName: FILE, source });
    },
  };
}

/** The page, as text. */
export async function replayPage(): Promise<string> {
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [plainCode(), svelte()],
    resolve: { conditions: CONDITIONS },
    build: {
      target: "es2023",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      write: false,
      minify: true,
      lib: {
        entry: "src/replay/file/viewer.ts",
        name: "GangwayReplay",
        formats: ["iife"],
      },
    },
  });
  const made = Array.isArray(result) ? result : [result];
  let [script, style] = ["", ""];
  for (const file of made.flatMap((one) =>
    "output" in one ? one.output : [],
  )) {
    if (file.type === "chunk") script += file.code;
    else if (file.fileName.endsWith(".css")) style += String(file.source);
    else throw new Error(`a replay file cannot hold ${file.fileName}`);
  }
  return page(inlined(script.trim()), style.trim());
}

/** Code blocks stay without colors: the highlighter is larger than the rest. */
function plainCode(): Plugin {
  return {
    name: "gangway-plain-code",
    enforce: "pre",
    load(id) {
      if (!id.endsWith("/kit/src/markdown/languages.ts")) return null;
      return "export default { getLanguage: () => undefined };";
    },
  };
}

/** The same script in a page: nothing in it ends the page's script element, or hides its end. */
function inlined(script: string): string {
  return script
    .replaceAll("<!--", "\\x3c!--")
    .replace(/<(?=\/?script)/gi, "\\x3c");
}

function page(script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    // What tools answered, and the icon.
    "img-src data:",
    "media-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Gangway replay</title>
<style>${style}</style>
<script>${script}</script>
</head>
<body>
<div id="app"></div>
<noscript>This replay needs JavaScript. It loads nothing from elsewhere.</noscript>
<script type="application/jsonl" id="recording"></script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
