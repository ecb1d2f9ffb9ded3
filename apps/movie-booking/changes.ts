// What was changed about how the stage is shown, each with a way to undo it.
import type { Act } from "./choices.ts";
import { filterWords } from "./commands.ts";
import { button, make } from "./elements.ts";
import type { Entry } from "./history.ts";
import { KINDS, type Kind, type Modification } from "./spec.ts";

export function drawChanges(
  box: HTMLElement,
  modification: Modification,
  entries: readonly Entry[],
  act: Act,
): void {
  const kinds = KINDS.filter((kind) => modification[kind] !== undefined);
  box.hidden = kinds.length === 0;
  const undo = (kind?: Kind) => () =>
    act({ tool: "clearModification", params: kind ? { type: kind } : {} });
  box.replaceChildren(
    ...kinds.map((kind) => {
      const words = wordsOf(kind, modification);
      const why = entries.findLast(
        (entry) => entry.tool === kind && entry.ok,
      )?.reason;
      return make(
        "span",
        { class: "change" },
        make("span", {}, words, why !== undefined && make("small", {}, why)),
        button(
          `undo-${kind}`,
          { "aria-label": `Undo: ${words}` },
          undo(kind),
          "Undo",
        ),
      );
    }),
    ...(kinds.length > 1
      ? [button("undo-all", { class: "all" }, undo(), "Undo all")]
      : []),
  );
}

function wordsOf(
  kind: Kind,
  { filter, sort, highlight, augment }: Modification,
): string {
  switch (kind) {
    case "filter":
      return `Only where ${(filter ?? []).map((f) => filterWords(f.field, f.operator, f.value)).join(" and ")}`;
    case "sort":
      return `By ${sort?.field ?? ""}${sort?.order === "desc" ? ", highest first" : ""}`;
    case "highlight":
      return `${highlight?.itemIds.length ?? 0} highlighted`;
    case "augment":
      return augment?.length === 1 ? "A note" : `${augment?.length ?? 0} notes`;
  }
}
