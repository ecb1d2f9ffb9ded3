// Lint rules for every package; formatting is prettier's business.
import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";

export default defineConfig(
  { ignores: ["**/dist/", "**/results/", "client/src/generated/"] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  svelte.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        extraFileExtensions: [".svelte"],
      },
    },
    rules: {
      // TypeScript knows which names exist.
      "no-undef": "off",
      // A leading underscore says that a name is left out on purpose.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true },
      ],
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "/(client|kit|ui)/src/",
              message: "Import another package by what it exports.",
            },
          ],
        },
      ],
      // `() => (open = false)` and `() => void run()` are how handlers are written here.
      "@typescript-eslint/no-confusing-void-expression": "off",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    // Whether methods stay what they are is what some tests look at.
    files: ["client/test/*.ts"],
    rules: { "@typescript-eslint/unbound-method": "off" },
  },
  {
    // Read by tsc, never run.
    files: ["**/*.types.ts"],
    rules: {
      "@typescript-eslint/no-meaningless-void-operator": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/no-unused-expressions": "off",
      "@typescript-eslint/no-unused-vars": "off",
    },
  },
  {
    files: ["**/*.js"],
    extends: [ts.configs.disableTypeChecked],
  },
);
