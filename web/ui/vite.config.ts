// How the chat page is built: hashed files, nothing inline, nothing from elsewhere.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defaultClientConditions, defineConfig } from "vite";
import { replayFile } from "./replay-file.plugin.js";
import { themeBoot } from "./theme-boot.plugin.js";

const plain = (name: string) => name.replace(/\.\w+$/, "").split("~")[0];

export default defineConfig({
  plugins: [svelte(), themeBoot(), replayFile()],
  resolve: { conditions: ["@gangway/source", ...defaultClientConditions] },
  build: {
    target: "es2023",
    // The first versions that know light-dark(), so that it is left as it is.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // The names of shared parts list all pages that share them.
        chunkFileNames: ({ name }) => `assets/${plain(name)}-[hash].js`,
        assetFileNames: ({ names: [name = ""] }) =>
          `assets/${plain(name)}-[hash][extname]`,
        // A few files per page: a request costs more than a little code that the page does not need.
        codeSplitting: {
          groups: [
            { name: "base", tags: ["$initial"] },
            {
              name: "shared",
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 40_000,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      "/api": { target: "http://127.0.0.1:3000", ws: true },
      "/v1": "http://127.0.0.1:3000",
    },
  },
});
