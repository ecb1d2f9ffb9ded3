// One run for the unit tests of every package.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const resolve = { conditions: ["@gangway/source", "browser"] };

export default defineConfig({
  test: {
    projects: [
      { test: { name: "apps", root: "apps", include: ["*.test.js"] } },
      {
        resolve,
        test: { name: "client", root: "client", include: ["test/*.test.ts"] },
      },
      {
        resolve,
        test: {
          name: "extension",
          root: "extension",
          include: ["test/*.test.ts"],
          environment: "jsdom",
        },
      },
      {
        resolve,
        plugins: [svelte()],
        test: {
          name: "ui",
          root: "ui",
          include: ["test/*.test.ts"],
          environment: "jsdom",
        },
      },
    ],
  },
});
