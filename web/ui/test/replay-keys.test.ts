// The keys of a replay, and what keeps its own keys.
import { expect, test } from "vitest";
import { pressed } from "../src/replay/keys.js";
import { Player } from "../src/replay/player.svelte.js";

let position = 0;
const track = {
  count: 30,
  get position() {
    return position;
  },
  goTo: (to: number) => void (position = to),
  timeOf: (at: number) => at,
};
const player = new Player(track);
let searched = 0;

function press(key: string, on = "div", more: KeyboardEventInit = {}): boolean {
  const element = document.createElement(on);
  document.body.append(element);
  let taken = false;
  const listen = (event: KeyboardEvent) =>
    (taken = pressed(event, { player, search: () => (searched += 1) }));
  window.addEventListener("keydown", listen);
  element.dispatchEvent(
    new KeyboardEvent("keydown", {
      key,
      bubbles: true,
      cancelable: true,
      ...more,
    }),
  );
  window.removeEventListener("keydown", listen);
  element.remove();
  return taken;
}

test("arrows step, space plays, and the slash searches", () => {
  press("ArrowRight");
  press("ArrowRight", "div", { shiftKey: true });
  expect(position).toBe(11);
  press("ArrowLeft");
  expect(position).toBe(10);
  press("End");
  expect(position).toBe(29);
  press("Home");
  expect(position).toBe(0);
  expect(press(" ")).toBe(true);
  expect(player.playing).toBe(true);
  press(" ");
  expect(player.playing).toBe(false);
  expect(press("/")).toBe(true);
  expect(searched).toBe(1);
});

test("what has keys of its own keeps them", () => {
  for (const element of ["input", "textarea", "select"]) {
    for (const key of [" ", "ArrowRight", "/"]) {
      expect(press(key, element)).toBe(false);
    }
  }
  expect(press(" ", "button")).toBe(false);
  expect(press("ArrowRight", "div", { ctrlKey: true })).toBe(false);
  expect(press("?")).toBe(false);
  expect(press("x")).toBe(false);
  expect([position, searched]).toEqual([0, 1]);
});
