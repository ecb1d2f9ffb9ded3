// Texts about permissions.
import type { OriginPermissions, PermissionDetails } from "@gangway/client";
import { expect, test } from "vitest";
import { textOn } from "../src/chat/dress.js";
import {
  ALL_SCOPES,
  askedFor,
  byServer,
  checkedFirst,
  choicesFor,
  chosen,
  isOwnMachine,
  splitTool,
  summary,
  untilWhen,
} from "../src/permissions/words.js";

test("text on a page's own colour can be read", () => {
  expect(textOn([255, 224, 0])).toBe("#000");
  expect(textOn([90, 20, 120])).toBe("#fff");
  expect(textOn([255, 255, 255])).toBe("#000");
  // On either side of where both read alike.
  expect(textOn([118, 118, 118])).toBe("#000");
  expect(textOn([116, 116, 116])).toBe("#fff");
});

const scopesOf = (some: Partial<OriginPermissions["scopes"]>) => {
  const scopes = ALL_SCOPES.map((scope) => [
    scope,
    some[scope] ?? "not-granted",
  ]);
  return Object.fromEntries(scopes) as OriginPermissions["scopes"];
};

test("a site's permissions are one line of words", () => {
  expect(summary({ scopes: scopesOf({}) })).toBe("Nothing is allowed");
  const scopes = scopesOf({
    "model:prompt": "granted-always",
    "model:list": "granted-always",
    "model:tools": "granted-always",
    "chat:open": "denied",
  });
  expect(summary({ scopes })).toBe("3 always allowed, 1 denied");
  const [soon, late] = ["2030-01-02T12:00:00Z", "2030-02-03T12:00:00Z"];
  const one = { scopes: { "model:list": soon } };
  expect(summary({ scopes, ends: one })).toBe(
    `2 always allowed, 1 allowed until ${untilWhen(soon)}, 1 denied`,
  );
  const two = { scopes: { "model:list": late, "model:tools": soon } };
  expect(summary({ scopes, ends: two })).toBe(
    `1 always allowed, 2 allowed until ${untilWhen(soon)} or later, 1 denied`,
  );
  expect(splitTool("a/b/c")).toEqual({ server: "a", tool: "b/c" });
});

test("what can be set about a scope names its end where it has one", () => {
  const end = "2030-01-02T12:00:00Z";
  const site: OriginPermissions = {
    ...{ origin: "https://shop.example", servers: [], onceOnly: false },
    scopes: scopesOf({
      "model:prompt": "granted-always",
      "model:list": "granted-always",
      "chat:open": "granted-once",
    }),
    ends: { scopes: { "model:prompt": end } },
  };
  const words = (scope: "model:prompt" | "model:list" | "chat:open") =>
    choicesFor(site, scope).map((choice) => choice.value);
  const all = ["not-granted", "1h", "1d", "30d", "never", "denied"];
  expect(words("model:list")).toEqual(all);
  expect(words("model:prompt")).toEqual([all[0], "until", ...all.slice(1)]);
  expect(words("chat:open")).toEqual(["granted-once", ...all]);
  expect(chosen(site, "model:prompt")).toBe("until");
  expect(chosen(site, "model:list")).toBe("never");
  expect(chosen(site, "chat:open")).toBe("granted-once");
  expect(chosen(site, "model:tools")).toBe("not-granted");
  const lan = { ...site, onceOnly: true };
  const once = choicesFor(lan, "chat:open").map(({ value }) => value);
  expect(once).toEqual(["granted-once", "not-granted", "denied"]);
});

test("a request says at a glance how much it asks for, and beyond a handful of tools none is checked", () => {
  const tools = Array.from({ length: 6 }, (_, n) => ({
    ...{ name: `s${n % 2}/t${n}`, server: `s${n % 2}` },
  })) as NonNullable<PermissionDetails["tools"]>;
  expect(askedFor({ scopes: ["model:prompt", "mcp:tools.call"], tools })).toBe(
    "Requests 2 permissions (1 high-risk), 6 tools",
  );
  expect(checkedFirst(tools)).toEqual([]);
  expect(checkedFirst(tools.slice(0, 5))).toHaveLength(5);
  const groups = byServer(tools).map(([server, some]) => [server, some.length]);
  expect(groups).toEqual([
    ["s0", 3],
    ["s1", 3],
  ]);
  expect(isOwnMachine("http://localhost:8080/mcp")).toBe(true);
  expect(isOwnMachine("https://shop.example/mcp")).toBe(false);
});
