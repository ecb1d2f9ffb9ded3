// Pages that click, fill in and picture themselves: what their script asks for, and what the broker lets through.
import { expect, test } from "vitest";
import { visited } from "./broker-frame.js";
import { Page, refusal, settle } from "./web-agent-page.js";

const tabOf = (page: Page) => page.agent.browser.activeTab;

test("elements are named by a selector or a reference, and each call has its own method", async () => {
  const page = await Page.open();
  const calls: [Promise<unknown>, string, object][] = [
    [tabOf(page).getElements(), "tab.elements", {}],
    [tabOf(page).click("#buy"), "tab.click", { target: "#buy" }],
    [tabOf(page).fill("@e7", ""), "tab.fill", { target: "@e7", value: "" }],
    [
      tabOf(page).screenshot({ format: "png", quality: 0.5 }),
      "tab.screenshot",
      { format: "png", quality: 0.5 },
    ],
  ];
  await settle();
  const said = page.said.map(({ method, params }) => [method, params]);
  expect(said).toEqual(calls.map(([, method, params]) => [method, params]));
  for (const [index, [answer]] of calls.entries()) {
    page.result({ success: true }, index + 1);
    expect(await answer).toEqual({ success: true });
  }
});

test("invalid arguments are rejected before the user is asked", async () => {
  const page = await Page.open();
  const tab = tabOf(page) as unknown as Record<
    string,
    (...given: unknown[]) => Promise<unknown>
  >;
  for (const [method, ...given] of [
    ["click"],
    ["click", ""],
    ["click", { selector: "#buy" }],
    ["fill", "#name"],
    ["fill", "#name", 7],
    ["fill", "", "x"],
    ["screenshot", { format: "gif" }],
    ["screenshot", { quality: 2 }],
  ] as [string, ...unknown[]][]) {
    expect(await refusal(tab[method]?.(...given) ?? settle())).toMatchObject({
      name: "TypeError",
      code: "ERR_INVALID_ARGUMENT",
    });
  }
  expect(page.window.channels).toEqual([]);
});

test("the script alone can do none of it: the broker reports that the extension is needed, without asking the user", async () => {
  const made = await visited();
  const before = made.socket.sent.length;
  const methods = ["tab.elements", "tab.click", "tab.fill", "tab.screenshot"];
  methods.forEach((method, index) => made.call(index + 2, method, {}));
  expect(made.socket.sent).toHaveLength(before);
  expect(made.told.slice(-4)).toMatchObject(
    methods.map((_, index) => ({
      ...{ type: "error", id: index + 2 },
      error: { code: "ERR_NOT_SUPPORTED" },
    })),
  );
});
