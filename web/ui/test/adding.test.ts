// Command lines, variables and the JSON of other hosts.
import { expect, test } from "vitest";
import { joinCommand, splitCommand } from "../src/tools/command.js";
import { checkByHand, pairsInText, type ByHand } from "../src/tools/entries.js";
import { readImport } from "../src/tools/import.js";

test.each([
  ["npx -y  pkg", ["npx", "-y", "pkg"]],
  ["  a\tb\nc ", ["a", "b", "c"]],
  [`run "my file" 'and "this"'`, ["run", "my file", 'and "this"']],
  [`a"b c"d`, ["ab cd"]],
  [`a "" ''`, ["a", "", ""]],
  [`"say \\"hi\\"" a\\ b`, ['say "hi"', "a b"]],
  [
    `'back\\slash' "C:\\dir" C:\\tools\\x.exe`,
    ["back\\slash", "C:\\dir", "C:\\tools\\x.exe"],
  ],
  ["one \\\n two", ["one", "two"]],
  ["", []],
])("%j is taken apart into words", (line, words) => {
  expect(splitCommand(line)).toEqual({ words });
});

test("an open quote is reported", () => {
  expect(splitCommand(`a "b`)).toEqual({ mistake: 'A closing " is missing.' });
  expect(splitCommand("it's")).toEqual({ mistake: "A closing ' is missing." });
});

test("words that are put together are taken apart into the same", () => {
  const words = ["a b", 'c"d', "", "e\\f", "g\\", "h'i", "$HOME", "C:\\x y\\"];
  expect(splitCommand(joinCommand(words))).toEqual({ words });
});

function wish(change: Partial<ByHand>): ByHand {
  const plain = { name: "files", url: "", pairs: [] };
  return { ...plain, way: "command", command: "run it", ...change };
}

test("a command becomes a server, and its secrets stay apart", () => {
  const pairs = [
    { name: "A", value: "1", secret: false },
    { name: "TOKEN", value: "s3", secret: true },
    { name: "", value: "", secret: false },
  ];
  expect(checkByHand(wish({ pairs }), [])).toEqual({
    additions: {
      servers: {
        files: {
          command: "run",
          args: ["it"],
          env: { A: "1", TOKEN: "${secret:mcp-files-TOKEN}" },
        },
      },
      secrets: { files: { "mcp-files-TOKEN": "s3" } },
    },
  });
});

test("a URL becomes a server with headers", () => {
  const pairs = [{ name: "X-Team", value: "blue", secret: false }];
  const url = " https://mcp.example.com/mcp ";
  expect(checkByHand(wish({ way: "url", url, pairs }), [])).toEqual({
    additions: {
      servers: {
        files: {
          url: "https://mcp.example.com/mcp",
          headers: { "X-Team": "blue" },
        },
      },
      secrets: { files: {} },
    },
  });
});

test.each([
  [{ name: " " }, "name", "Enter a name."],
  [{ name: "Files" }, "name", "lowercase letters"],
  [{ name: ".." }, "name", "lowercase letters"],
  [{ name: "x".repeat(65) }, "name", "64"],
  [{ name: "taken" }, "name", "with this name already exists"],
  [{ command: " " }, "target", "command to run"],
  [{ command: "'" }, "target", "is missing"],
  [{ way: "url", url: "ftp://x" }, "target", "https://"],
  [{ way: "url", url: "https://" }, "target", "https://"],
  [{ pairs: [{ name: "A-B", value: "", secret: false }] }, "pair-0", "name"],
  [{ pairs: [{ name: "", value: "x", secret: false }] }, "pair-0", "a name"],
  [{ pairs: [{ name: "K", value: " ", secret: true }] }, "pair-0", "a value"],
  [
    { pairs: [{ name: "K".repeat(60), value: "x", secret: true }] },
    "pair-0",
    "Invalid name for a secret",
  ],
] as const)("%j is wrong at its %s", (change, field, words) => {
  const checked = checkByHand(wish(change as Partial<ByHand>), ["taken"]);
  expect("wrong" in checked && checked.wrong[field]).toContain(words);
});

test("a duplicate name is reported at the second one", () => {
  const pair = { name: "A", value: "1", secret: false };
  const checked = checkByHand(wish({ pairs: [pair, pair] }), []);
  expect(checked).toEqual({ wrong: { "pair-1": "Duplicate name." } });
});

test("lines of a file become variables, and keys are taken for secrets", () => {
  expect(pairsInText('# mine\nexport A=1\nAPI_KEY="x=y"\n\nEMPTY=\n')).toEqual([
    { name: "A", value: "1", secret: false },
    { name: "API_KEY", value: "x=y", secret: true },
    { name: "EMPTY", value: "", secret: false },
  ]);
  expect(pairsInText("NAME")).toBeNull();
  expect(pairsInText("A=1\nand more")).toBeNull();
});

test("servers are found with and without what stands around them", () => {
  const list = { a: { command: "x", args: ["b c"] }, b: { url: "http://y" } };
  for (const json of [{ mcpServers: list }, { servers: list }, list]) {
    const found = readImport(JSON.stringify(json), []);
    expect("servers" in found && found.servers).toEqual([
      { id: "a", entry: list.a, target: 'x "b c"' },
      { id: "b", entry: list.b, target: "http://y" },
    ]);
  }
});

test.each([
  ["{", "Invalid JSON"],
  ["[]", "No server found"],
  ["{}", "No server found"],
  ['{"mcpServers": {"a": {}}}', "“a” needs"],
  ['{"mcpServers": {"a": {"command": "x", "args": 1}}}', "“a” needs"],
  ['{"mcpServers": {"A b": {"command": "x"}}}', "“A b”: Use at most"],
  [
    '{"mcpServers": {"taken": {"command": "x"}}}',
    "with this name already exists",
  ],
])("%s cannot be added", (text, words) => {
  const found = readImport(text, ["taken"]);
  expect("mistake" in found && found.mistake).toContain(words);
});
