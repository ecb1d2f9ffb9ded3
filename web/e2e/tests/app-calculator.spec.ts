// The calculator: sums, earlier results, and an explanation by the agent.
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look } from "../looks.js";

test.use({
  settings: {
    defaultAgent: "teacher",
    scripts: {
      teacher: {
        description: "Explains sums.",
        turns: [
          {
            steps: [
              {
                say: "First the bracket: 3 + 4 is 7. Then twice 7 is 14.",
                every_ms: 20,
              },
            ],
          },
        ],
      },
    },
  },
});

test(
  "it calculates, keeps results, and asks the agent to explain one",
  LOOKS,
  async ({ page, server }) => {
    const { frame, setState, getState } = await openApp(
      page,
      server,
      "calculator",
    );
    const entry = frame.getByRole("textbox", { name: "Expression" });
    await expect(entry).toBeVisible();
    for (const key of ["2", "times", "open bracket", "3", "plus", "4"]) {
      await frame.getByRole("button", { name: key, exact: true }).click();
    }
    await expect(entry).toHaveValue("2×(3+4");
    await entry.press("End");
    await entry.pressSequentially(")");
    await expect(frame.locator("#result")).toHaveText("= 14");

    await frame.getByRole("button", { name: "Explain this result" }).click();
    const consent = page.getByRole("group", { name: /wants to send/ });
    await expect(consent).toContainText("2×(3+4) = 14");
    await consent.getByRole("button", { name: "Always" }).click();
    await expect(frame.locator("#answer")).toContainText("twice 7 is 14");
    await expect(page.locator(".message.user.applet-invoked")).toContainText(
      "why 2×(3+4) = 14",
    );

    await entry.press("Enter");
    await expect(entry).toHaveValue("14");
    await expect(frame.getByRole("listitem")).toHaveText("2×(3+4) = 14");
    await entry.fill("1 / 0");
    await entry.press("Enter");
    await expect(frame.locator("#result")).toHaveText("Division by zero.");
    await look(page, "app-calculator", { include: "iframe" });

    await setState({ expression: "ans * 3" });
    await expect(frame.locator("#result")).toHaveText("= 42");
    expect(await getState()).toMatchObject({
      history: [{ expression: "2×(3+4)", result: "14" }],
      explanation: { expression: "2×(3+4)" },
    });
    await page.reload();
    await expect(frame.getByRole("listitem")).toHaveText("2×(3+4) = 14");
    await expect(frame.locator("#answer")).toContainText("twice 7 is 14");
  },
);
