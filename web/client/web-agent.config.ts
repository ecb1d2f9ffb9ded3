// How gangway.js (mode page) and broker.js (mode broker) are built: classic scripts, each with everything in it.
import { defineConfig, type Plugin } from "vite";

/** The server writes its origin over this word, so it has to be there once, in these quotes. */
const ORIGIN = '"__GANGWAY_ORIGIN__"';

function origin(): Plugin {
  return {
    name: "origin",
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        const bare = ORIGIN.slice(1, -1);
        const parts = file.code.split(new RegExp(`["'\`]${bare}["'\`]`));
        if (parts.length !== 2) throw new Error("gangway.js names no origin");
        file.code = parts.join(ORIGIN);
      }
    },
  };
}

export default defineConfig(({ mode }) => {
  const page = mode === "page";
  return {
    plugins: page ? [origin()] : [],
    build: {
      target: "es2022",
      outDir: "../ui/dist",
      // The pages are there already.
      emptyOutDir: false,
      minify: true,
      lib: {
        entry: `src/web-agent/${page ? "script" : "broker-script"}.ts`,
        name: "Gangway",
        formats: ["iife"],
        fileName: () => (page ? "gangway.js" : "broker.js"),
      },
    },
  };
});
