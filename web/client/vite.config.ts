// How /applet.js is built: one ES module with everything in it, beside the pages that the binary carries.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    outDir: "../ui/dist",
    // The pages are there already.
    emptyOutDir: false,
    minify: true,
    lib: {
      entry: "src/applet/applet.ts",
      formats: ["es"],
      fileName: () => "applet.js",
    },
  },
});
