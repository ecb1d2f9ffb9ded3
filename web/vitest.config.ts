// One run for the unit tests of every package.
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const resolve = { conditions: ["@gangway/source", "browser"] };

export default defineConfig({
  test: {
    projects: [
      {
        // What the server serves beside an app.
        resolve: {
          alias: [
            {
              find: "./__gangway/host.js",
              replacement: fileURLToPath(
                new URL("client/src/host/index.ts", import.meta.url),
              ),
            },
          ],
        },
        test: { name: "apps", root: "apps", include: ["*.test.js"] },
      },
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
      ...["kit", "ui"].map((name) => ({
        resolve,
        plugins: [svelte()],
        test: {
          ...{ name, root: name, include: ["test/*.test.ts"] },
          environment: "jsdom",
        },
      })),
    ],
  },
});
