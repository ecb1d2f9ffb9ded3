// Puts src/theme-boot.js into the page as a hashed, blocking script of its own.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const SOURCE = new URL("./src/theme-boot.js", import.meta.url);

export function themeBoot(): Plugin {
  const source = readFileSync(SOURCE, "utf8");
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 8);
  const fileName = `assets/theme-boot-${hash}.js`;
  let building = false;
  return {
    name: "gangway-theme-boot",
    configResolved(config) {
      building = config.command === "build";
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName, source });
    },
    transformIndexHtml() {
      const src = building ? `/${fileName}` : "/src/theme-boot.js";
      return [{ tag: "script", attrs: { src }, injectTo: "head" }];
    },
  };
}
