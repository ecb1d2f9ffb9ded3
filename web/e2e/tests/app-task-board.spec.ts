// The task board: two people, or a person and an agent, at one board.
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look, pictures } from "../looks.js";

test(
  "cards are added, moved by pointer and by keyboard, changed and removed",
  LOOKS,
  async ({ page, server }) => {
    const { frame, setState, getState } = await openApp(
      page,
      server,
      "task-board",
    );
    const column = (name: string) => frame.getByRole("region", { name });
    const cards = (name: string) =>
      column(name).locator("li.card > p:first-child");
    const add = frame.getByRole("textbox", { name: "Add a card to To do" });
    for (const title of ["Rig the sails", "Load <b>water</b>"]) {
      await add.fill(title);
      await add.press("Enter");
      await expect(cards("To do").filter({ hasText: title })).toBeVisible();
    }
    await setState({
      "card.plan": {
        title: "Plot the course",
        column: "Doing",
        order: 1,
        note: "Past the reef, at high tide.",
        by: "agent",
      },
    });
    await expect(cards("Doing")).toHaveText(["Plot the course"]);

    const rig = frame.getByLabel("Rig the sails");
    const from = await rig.boundingBox();
    const to = await frame.getByLabel("Plot the course").boundingBox();
    if (!from || !to) throw new Error("a card is not on the screen");
    await page.mouse.move(from.x + 20, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(to.x + 30, to.y + 5, { steps: 8 });
    await page.mouse.up();
    await expect(cards("Doing")).toHaveText([
      "Rig the sails",
      "Plot the course",
    ]);
    await expect(rig).toBeFocused();

    await rig.press("Alt+ArrowDown");
    await expect(cards("Doing")).toHaveText([
      "Plot the course",
      "Rig the sails",
    ]);
    await rig.press("Alt+ArrowRight");
    await expect(cards("Done")).toHaveText(["Rig the sails"]);
    await expect(frame.getByRole("status")).toContainText("Done, place 1");
    await expect(rig).toBeFocused();

    await rig.press("Enter");
    const editor = frame.getByRole("dialog", { name: "Card" });
    await editor.getByLabel("Note").fill("All of them");
    await pictures(page, "app-task-board-editor");
    await editor.getByRole("button", { name: "Save" }).click();
    await expect(rig).toContainText("All of them");
    await look(page, "app-task-board", { include: "iframe" });

    await frame.getByLabel("Load <b>water</b>").press("Delete");
    await expect(cards("To do")).toHaveCount(0);
    await frame.getByRole("button", { name: "Undo" }).click();
    await expect(cards("To do")).toHaveText(["Load <b>water</b>"]);
    expect(Object.values(await getState())).toContainEqual({
      title: "Rig the sails",
      column: "Done",
      order: 0,
      note: "All of them",
      by: "person",
    });
  },
);

test("two tabs converge, and a half-written card survives the other's change", async ({
  page,
  server,
}) => {
  const { frame } = await openApp(page, server, "task-board");
  const other = await page.context().newPage();
  await other.goto(page.url());
  const there = other.frameLocator("iframe");
  const draft = frame.getByRole("textbox", { name: "Add a card to To do" });
  await draft.fill("Half a thou");
  const add = there.getByRole("textbox", { name: "Add a card to To do" });
  await add.fill("From the other tab");
  await add.press("Enter");
  await expect(frame.getByLabel("From the other tab")).toBeVisible();
  await expect(draft).toHaveValue("Half a thou");
  await expect(draft).toBeFocused();
  await draft.press("End");
  await draft.pressSequentially("ght");
  await draft.press("Enter");
  await expect(there.getByLabel("Half a thought")).toBeVisible();

  await server.kill();
  await server.launch();
  await add.fill("After the crash");
  await add.press("Enter");
  await expect(frame.getByLabel("After the crash")).toBeVisible({
    timeout: 20_000,
  });
  await expect(frame.locator("li.card")).toHaveCount(3);
});
