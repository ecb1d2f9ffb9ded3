// How the three scripts of launched apps are built: context.js (mode context), agent.js (mode module), agent.global.js (mode global).
import { defineConfig, type Plugin } from "vite";

const NAME = "GangwayAgent";

/** Leaves the function itself: the server writes `(`, this file, `)(`, what it tells the page, `)`. */
function expression(): Plugin {
  return {
    name: "expression",
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        const found = new RegExp(`^var ${NAME}=([^]*?);?\\s*$`).exec(file.code);
        if (!found?.[1]) throw new Error("context.js is not one expression");
        if (/<\/script|<!--/i.test(found[1])) {
          throw new Error("context.js cannot stand in a page");
        }
        file.code = found[1];
      }
    },
  };
}

export default defineConfig(({ mode }) => {
  const context = mode === "context";
  const module = mode === "module";
  return {
    plugins: context ? [expression()] : [],
    build: {
      target: "es2022",
      outDir: "../ui/dist",
      // The pages are there already.
      emptyOutDir: false,
      minify: true,
      lib: {
        entry: context ? "src/context/runtime.ts" : "src/context/agent.ts",
        name: NAME,
        formats: [module ? "es" : "iife"],
        fileName: () =>
          context ? "context.js" : module ? "agent.js" : "agent.global.js",
      },
    },
  };
});
