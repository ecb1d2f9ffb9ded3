// Draws what can be chosen on a stage, each component its own way.
import { drawCalendar } from "./calendar.ts";
import type { Command } from "./commands.ts";
import { arrows, button, make } from "./elements.ts";
import { drawSeats } from "./seats.ts";
import { drawSummary } from "./summary.ts";
import type { Item, UiSpec, VisibleItem } from "./spec.ts";
import { money } from "./words.ts";

export type Act = (command: Command) => void;

/** What an item looks like beyond itself: pointed out, annotated. */
export interface Marks {
  classes: string;
  note: string | null;
  /** For those who cannot see it. */
  said: string;
}

export function drawChoices(box: HTMLElement, spec: UiSpec, act: Act): void {
  const { component } = spec.display;
  if (component === "calendar") drawCalendar(box, spec, act);
  else if (component === "seatMap") drawSeats(box, spec, act);
  else if (component === "counter") drawCounters(box, spec, act);
  else if (component === "summary") drawSummary(box, spec, act);
  else drawButtons(box, spec, act);
  if (spec.visibleItems.length === 0) {
    box.append(
      make("p", { class: "empty" }, "No items match. Undo a filter above."),
    );
  }
}

export function marksOf(spec: UiSpec, id: string): Marks {
  const { highlight, augment } = spec.modification;
  const pointed = highlight?.itemIds.includes(id) ?? false;
  const note = augment?.find(({ itemId }) => itemId === id)?.value ?? null;
  return {
    classes: pointed ? ` marked ${highlight?.style ?? ""}` : "",
    note,
    said:
      (pointed ? ", highlighted by the agent" : "") +
      (note ? `, note: ${note}` : ""),
  };
}

export function itemOf(spec: UiSpec, { id }: VisibleItem): Item {
  return spec.items.find((item) => item.id === id) ?? { id };
}

function drawButtons(box: HTMLElement, spec: UiSpec, act: Act): void {
  const { stage } = spec;
  const list = make("div", {
    class: `cards ${stage}`,
    role: "radiogroup",
    "aria-labelledby": "stage-title",
  });
  for (const shown of spec.visibleItems) {
    const item = itemOf(spec, shown);
    const { classes, note, said } = marksOf(spec, shown.id);
    const chosen = spec.state.selected?.id === shown.id;
    const card = button(
      `item-${shown.id}`,
      {
        class: `card${classes}`,
        role: "radio",
        "aria-checked": String(chosen),
        disabled: shown.isDisabled ?? false,
      },
      () => act({ tool: "select", params: { itemId: shown.id } }),
      stage === "movie" && poster(item),
      make(
        "span",
        { class: "face" },
        ...faceOf(stage, item),
        note !== null && make("span", { class: "note" }, note),
      ),
      said !== "" && note === null && make("span", { class: "hidden" }, said),
    );
    list.append(card);
  }
  box.replaceChildren(list);
  arrows(list);
}

function faceOf(stage: UiSpec["stage"], item: Item): HTMLElement[] {
  const line = (name: string, words: unknown) =>
    make("span", { class: name }, String(words ?? ""));
  if (stage === "movie") {
    return [
      line("name", item["title"]),
      line(
        "facts",
        `${String(item["genre"])} · ${String(item["length"])} · ★\u00a0${String(item["rating"])}`,
      ),
      line("about", item["synopsis"]),
    ];
  }
  if (stage === "theater") {
    return [
      line("name", item["name"]),
      line("facts", item["address"]),
      line("far", `${String(item["distanceKm"])} km`),
    ];
  }
  const left = Number(item["seatsLeft"]);
  return [
    line("name", item["time"]),
    line(
      "facts",
      `${String(item["hall"])} · ${String(item["format"])} · ${String(item["price"])}`,
    ),
    line("far", left === 0 ? "Sold out" : `${left} seats left`),
  ];
}

/** A poster of a movie's own colours, since there is no picture. */
function poster({ id, title }: Item): HTMLElement {
  const made = make("span", { class: "poster", "aria-hidden": "true" });
  const words = String(title ?? id);
  let sum = 0;
  for (const letter of words)
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  made.style.setProperty("--hue", String(sum));
  made.textContent = words
    .split(/\s+/)
    .map((word) => word[0] ?? "")
    .join("")
    .slice(0, 3);
  return made;
}

function drawCounters(box: HTMLElement, spec: UiSpec, act: Act): void {
  const { quantities = [] } = spec.state;
  const full = spec.meta.canGoOn;
  const list = make("div", { class: "counters" });
  for (const shown of spec.visibleItems) {
    const item = itemOf(spec, shown);
    const name = String(item["name"]);
    const { classes, note, said } = marksOf(spec, shown.id);
    const count =
      quantities.find((each) => each.item.id === shown.id)?.count ?? 0;
    const set = (quantity: number) => () =>
      act({ tool: "setQuantity", params: { typeId: shown.id, quantity } });
    list.append(
      make(
        "div",
        {
          class: `counter${classes}`,
          role: "group",
          "aria-label": name + said,
        },
        make(
          "span",
          { class: "face" },
          make("span", { class: "name" }, name),
          make("span", { class: "facts" }, String(item["description"] ?? "")),
        ),
        note !== null && make("span", { class: "note" }, note),
        make("span", { class: "price" }, money(Number(item["priceCents"]))),
        make(
          "span",
          { class: "steps" },
          button(
            `less-${shown.id}`,
            {
              class: "round",
              "aria-label": `One ${name} fewer`,
              "aria-disabled": String(count === 0),
            },
            count === 0 ? () => undefined : set(count - 1),
            "−",
          ),
          make("output", { "aria-label": `${name}: how many` }, String(count)),
          button(
            `more-${shown.id}`,
            {
              class: "round",
              "aria-label": `One ${name} more`,
              "aria-disabled": String(full),
            },
            full ? () => undefined : set(count + 1),
            "+",
          ),
        ),
      ),
    );
  }
  box.replaceChildren(list);
}
