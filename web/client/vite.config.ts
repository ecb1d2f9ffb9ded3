// How the scripts of applets are built, beside the pages that the binary carries: /applet.js, one ES module with everything in it,
// /applet.global.js (mode global), the same as a plain script, and confine.js (mode confine), which stands in the page itself.
import { defineConfig } from "vite";

export default defineConfig(({ mode }) => {
  const confine = mode === "confine";
  const plain = confine || mode === "global";
  return {
    build: {
      target: "es2022",
      outDir: "../ui/dist",
      // The pages are there already.
      emptyOutDir: false,
      minify: true,
      lib: {
        entry: confine ? "src/applet/confine.ts" : "src/applet/applet.ts",
        formats: plain ? (["iife"] as const) : (["es"] as const),
        name: confine ? "confine" : "GangwayApplet",
        fileName: () =>
          confine ? "confine.js" : plain ? "applet.global.js" : "applet.js",
      },
    },
  };
});
