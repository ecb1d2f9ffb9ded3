// Detecting what is missing from the errors of browsers, and the command that fixes it.
import { expect, test } from "vitest";
import { browserName } from "../src/browser.js";
import { refusalFor, troubleIn, troubleOf } from "../src/trouble.js";
import { adviceFor, stepsOf } from "../src/ui/setup.js";
import { HELLO } from "./fake-bridge.js";

test.each([
  ["Specified native messaging host not found.", "manifest"],
  ["No such native application gangway.bridge", "manifest"],
  ["Access to the specified native messaging host is forbidden.", "manifest"],
  ["Failed to start native messaging host.", "program"],
  ["Native host has exited.", "program"],
  ["An unexpected error occurred", "program"],
  ["", "program"],
])(
  "“%s” before anything was said means that the %s is missing",
  (words, missing) => {
    expect(troubleOf(words, false)).toEqual({ missing, words });
  },
);

test("a bridge that spoke and ended is not missing", () => {
  expect(troubleOf("Native host has exited.", true)).toBeNull();
  expect(troubleOf("", true)).toBeNull();
});

test("the errors of a greeting are distinguished", () => {
  const message = "older";
  expect(troubleIn({ code: "wrong_protocol", message }).missing).toBe(
    "version",
  );
  expect(troubleIn({ code: "server_gone", message }).missing).toBe("server");
});

test("a page gets ERR_NOT_INSTALLED, whatever is missing", () => {
  for (const missing of ["manifest", "program", "server", "version"] as const) {
    const said = refusalFor({ missing, words: "/home/somebody" });
    expect(JSON.parse(said)).toMatchObject({
      error: {
        code: "ERR_NOT_INSTALLED",
        details: { reason: `bridge_${missing}` },
      },
    });
    expect(said).not.toContain("somebody");
  }
});

test("the command names this browser", () => {
  const trouble = { missing: "manifest", words: "" } as const;
  const state = { state: "missing", trouble, hello: null } as const;
  expect(adviceFor(state, "brave")?.command).toBe(
    "gangway bridge install --browser brave",
  );
  expect(adviceFor({ ...state, trouble: null }, "brave")).toBeNull();
});

test("no command stands beside words that name one", () => {
  const command = (words: string) => {
    const trouble = { missing: "server", words } as const;
    return adviceFor({ state: "missing", trouble, hello: null })?.command;
  };
  expect(command("It does not answer.")).toBe("gangway serve");
  expect(command("Make one with `gangway key create --name me`.")).toBeNull();
});

test("access to pages is a step of its own", () => {
  const state = { state: "up", trouble: null, hello: HELLO } as const;
  const access = (granted: boolean | null) =>
    stepsOf(state as never, granted).map(({ state }) => state)[1];
  expect([true, false, null].map(access)).toEqual([
    ...["done", "missing", "unknown"],
  ]);
});

test("steps are done up to the one that is missing", () => {
  const states = (missing: "manifest" | "program" | "server") => {
    const trouble = { missing, words: "" };
    const steps = stepsOf({ state: "missing", trouble, hello: null }, true);
    return steps.map(({ state }) => state).join(" ");
  };
  expect(states("manifest")).toBe("done done missing unknown unknown");
  expect(states("program")).toBe("done done done missing unknown");
  expect(states("server")).toBe("done done done done missing");
  const hello = { ...HELLO, attached: "own" as const };
  const up = stepsOf({ state: "up", trouble: null, hello }, true);
  expect(up.every(({ state }) => state === "done")).toBe(true);
  expect(up[4]?.words).toBe("http://127.0.0.1:3000, started by this browser");
});

test("browsers are distinguished by their brands", () => {
  const named = (...brands: string[]) =>
    browserName({
      userAgentData: { brands: brands.map((brand) => ({ brand })) },
    } as unknown as Navigator);
  expect(browserName({} as Navigator)).toBe("firefox");
  expect(named("Chromium", "Not)A;Brand")).toBe("chromium");
  expect(named("Chromium", "Google Chrome")).toBe("chrome");
  expect(named("Chromium", "Microsoft Edge")).toBe("edge");
  expect(named("Chromium", "Brave")).toBe("brave");
});
