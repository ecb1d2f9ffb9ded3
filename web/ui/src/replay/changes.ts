// What a step changed in a state: each value with a mark, those that it removed too.
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

/** Whether two values of JSON are equal. */
export function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object") return false;
  if (one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [
    one as Record<string, unknown>,
    other as Record<string, unknown>,
  ];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) => Object.hasOwn(right, key) && same(left[key], right[key]),
    )
  );
}
