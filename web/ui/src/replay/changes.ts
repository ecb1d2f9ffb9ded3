// What a step changed in a state: each value with a mark, those that it removed too.
import { same } from "@gangway/client";
import type { Section, State } from "./state.js";

export type Mark = "added" | "changed" | "removed" | null;

export interface Marked {
  key: string;
  section: Section;
  /** Whether the step changed anything in it. */
  touched: boolean;
  values: { name: string; value: unknown; mark: Mark }[];
}

/** The sections of a state in the order in which they came, with what changed since the one before. */
export function marked(now: State, before: State): Marked[] {
  return [...now].map(([key, section]) => {
    const old = before.get(key)?.values ?? new Map<string, unknown>();
    const values = [...section.values].map(([name, value]) => ({
      ...{ name, value, mark: markOf(old, name, value) },
    }));
    for (const [name, value] of old) {
      if (section.values.has(name)) continue;
      values.push({ name, value, mark: "removed" });
    }
    return {
      ...{ key, section, values },
      touched: values.some(({ mark }) => mark !== null),
    };
  });
}

function markOf(
  old: ReadonlyMap<string, unknown>,
  name: string,
  value: unknown,
): Mark {
  if (!old.has(name)) return "added";
  return same(old.get(name), value) ? null : "changed";
}
