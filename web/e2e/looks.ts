// How pages look: pictures for people, and what axe finds.
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";

/** A test of looks alone: `npm run e2e:audit` runs it, `npm run e2e` does not. */
export const AUDIT = { tag: "@audit" };

/** A test of behaviour that looks at its pages on the way: `npm run e2e:audit` runs it with the looking, `npm run e2e` without. */
export const LOOKS = { tag: "@looks" };

const LOOKING = process.env["GANGWAY_LOOKS"] !== "off";

interface Part {
  include?: string;
  exclude?: string;
}

/** The violations that axe finds: the rule, and the elements. */
async function violationsIn(page: Page, { include, exclude }: Part) {
  let axe = new AxeBuilder({ page }).options({
    // It would fetch style sheets, which the policy of a frame does not allow.
    preload: false,
    // Results of other types are not read.
    resultTypes: ["violations"],
  });
  if (include) axe = axe.include(include);
  if (exclude) axe = axe.exclude(exclude);
  const { violations } = await axe.analyze();
  // It opened a page of its own, and what is behind is drawn once a second.
  await page.bringToFront();
  return violations.map(({ id, impact, nodes }) => ({
    id,
    serious: impact === "serious" || impact === "critical",
    where: nodes.map(({ html }) => html),
  }));
}

/** Axe finds nothing at all. */
export async function expectAccessible(
  page: Page,
  what: string,
  part: Part = {},
): Promise<void> {
  expect(await violationsIn(page, part), what).toEqual([]);
}

/** Axe finds nothing serious. */
export async function expectNothingSerious(
  page: Page,
  what: string,
  part: Part = {},
): Promise<void> {
  const found = await violationsIn(page, part);
  expect(
    found.filter(({ serious }) => serious),
    what,
  ).toEqual([]);
}

/** Nothing is wider than the window. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const over = await page.evaluate(
    () => document.documentElement.scrollWidth - innerWidth,
  );
  expect(over, "wider than the window").toBeLessThanOrEqual(0);
}

/** Pictures in both themes and on a phone; none where nobody looks. */
export async function pictures(
  page: Page,
  name: string,
  check: (theme: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  if (!LOOKING) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await transitionsEnd(page);
    await page.screenshot({ path: `results/${name}-${colorScheme}.png` });
    await check(colorScheme);
  }
  await page.emulateMedia({ colorScheme: "light" });
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.screenshot({ path: `results/${name}-phone.png` });
  await expectNoOverflow(page);
  if (before) await page.setViewportSize(before);
}

/** The same pictures, and axe finds nothing in either theme. */
export async function look(
  page: Page,
  name: string,
  part: Part = {},
): Promise<void> {
  // This takes its time on a busy machine.
  test.info().setTimeout(120_000);
  await pictures(page, name, (theme) =>
    expectAccessible(page, `${name}, ${theme}`, part),
  );
}

/** Waits until the colors of another theme are there, in frames too. */
async function transitionsEnd(page: Page): Promise<void> {
  for (const frame of page.frames()) {
    await frame.evaluate(async () => {
      const running = document
        .getAnimations()
        .filter(
          ({ effect }) => effect?.getComputedTiming().endTime !== Infinity,
        )
        // What is not drawn, as inside of what is folded, may never end.
        .filter(
          ({ effect }) =>
            !(effect instanceof KeyframeEffect) ||
            effect.target?.checkVisibility() === true,
        );
      await Promise.allSettled(running.map(({ finished }) => finished));
    });
  }
}
