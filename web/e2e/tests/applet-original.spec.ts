// An applet as the specification alone describes it: bare functions, a plain script, handlers in the HTML.
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { MATE } from "../parrot.js";

const ORIGINAL = {
  "meta.json": JSON.stringify({ slug: "original", name: "Original" }),
  "content.html": `
    <script>window.early = typeof setAppletState;</script>
    <button onclick="save()">Save</button>
    <progress id="progress" max="100"></progress>
    <output id="seen">0</output>`,
  "script.js": `
    let seen = 0;
    function save() { setAppletState({ early, saved: true }); }
    onStateUpdate((state) => {
      seen += 1;
      document.getElementById("seen").textContent = seen;
      document.getElementById("progress").value = state.progress ?? 0;
      setAppletState({ echo: state.progress ?? null, seen });
    });`,
};

test.use({ settings: MATE });

test("an applet from the specification finds its functions, and does not run in a circle", async ({
  page,
  server,
}) => {
  await server.writeApplet("original", ORIGINAL);
  const opened = await openApp(page, server, "original");
  const seen = opened.frame.locator("#seen");
  // The state as it is found.
  await expect(seen).toHaveText("1");
  await opened.frame.getByRole("button", { name: "Save" }).click();
  await expect
    .poll(() => opened.getState())
    .toEqual({ early: "function", saved: true, seen: 1 });
  await opened.setState({ progress: 50 });
  await expect(seen).toHaveText("2");
  await expect(opened.frame.locator("#progress")).toHaveJSProperty("value", 50);
  await expect
    .poll(() => opened.getState())
    .toMatchObject({ echo: 50, seen: 2 });
});
