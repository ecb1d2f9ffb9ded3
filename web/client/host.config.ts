// How host.js (mode module) and host.global.js (mode global) are built: each with everything in it.
import { defineConfig } from "vite";

export default defineConfig(({ mode }) => ({
  build: {
    target: "es2022",
    outDir: "../ui/dist",
    // The pages are there already.
    emptyOutDir: false,
    minify: true,
    lib: {
      entry: "src/host/index.ts",
      name: "GangwayHost",
      formats: [mode === "global" ? "iife" : "es"],
      fileName: () => (mode === "global" ? "host.global.js" : "host.js"),
    },
  },
}));
