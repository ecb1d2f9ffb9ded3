// The seats of a hall, as they stand before the screen.
import { marksOf, type Act } from "./choices.ts";
import { arrows, button, make } from "./elements.ts";
import type { Item, UiSpec } from "./spec.ts";

const STATES: Record<string, string> = {
  free: "free",
  mine: "free",
  held: "held by somebody else",
  taken: "taken",
};

export function drawSeats(box: HTMLElement, spec: UiSpec, act: Act): void {
  const shown = new Set(spec.visibleItems.map(({ id }) => id));
  const chosen = new Set(spec.state.selectedList?.map(({ id }) => id));
  const rows = [...new Set(spec.items.map(({ row }) => String(row)))];
  const widest = Math.max(1, ...spec.items.map(({ number }) => Number(number)));
  const hall = make("div", {
    class: "hall",
    role: "group",
    "aria-labelledby": "stage-title",
  });
  hall.style.setProperty("--seats", String(widest));
  hall.append(make("p", { class: "screen" }, "Screen"));
  for (const row of rows) {
    const line = make(
      "div",
      { class: "row", role: "group", "aria-label": `Row ${row}` },
      make("span", { class: "name", "aria-hidden": "true" }, row),
    );
    for (const item of spec.items.filter((each) => each["row"] === row)) {
      const seat = drawSeat(
        item,
        spec,
        act,
        shown.has(item.id),
        chosen.has(item.id),
      );
      seat.style.gridColumn = String(Number(item["number"]) + 1);
      line.append(seat);
    }
    hall.append(line);
  }
  const key = ["free", "chosen", "premium", "accessible", "taken"].map((name) =>
    make(
      "li",
      {},
      make("span", { class: `seat ${name}`, "aria-hidden": "true" }),
      name,
    ),
  );
  const notes = (spec.modification.augment ?? []).map(({ itemId, value }) =>
    make("li", {}, `${itemId}: ${value}`),
  );
  box.replaceChildren(
    make("div", { class: "scroller" }, hall),
    make("ul", { class: "key", "aria-label": "Seat types" }, ...key),
    ...(notes.length > 0 ? [make("ul", { class: "notes" }, ...notes)] : []),
  );
  arrows(hall);
}

function drawSeat(
  item: Item,
  spec: UiSpec,
  act: Act,
  shown: boolean,
  chosen: boolean,
): HTMLElement {
  const { id, isDisabled } = item;
  const kind = String(item["kind"]);
  const status = String(item["status"]);
  const { classes, said } = marksOf(spec, id);
  const state = chosen ? "chosen" : (STATES[status] ?? status);
  const look = chosen ? "chosen" : isDisabled ? "taken" : kind;
  return button(
    `item-${id}`,
    {
      class: `seat ${look}${shown ? classes : " faint"}`,
      "aria-pressed": String(chosen),
      "aria-label": `Row ${String(item["row"])} seat ${String(item["number"])}, ${kind === "standard" ? "" : `${kind}, `}${state}${said}`,
      disabled: (isDisabled ?? false) || !shown,
      title: id,
    },
    () => act({ tool: "select", params: { itemId: id } }),
    chosen ? "✓" : kind === "accessible" && !isDisabled ? "♿" : "",
  );
}
