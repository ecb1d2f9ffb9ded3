// How embed.js is built: one classic script with everything in it.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    outDir: "../ui/dist",
    // The pages are there already.
    emptyOutDir: false,
    minify: true,
    lib: {
      entry: "src/embed/script.ts",
      name: "Gangway",
      formats: ["iife"],
      fileName: () => "embed.js",
    },
  },
});
