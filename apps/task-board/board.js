// What the state says about the board, and where a moved card goes.

export const START = ["To do", "Doing", "Done"];
const PREFIX = "card.";

const text = (value, longest) =>
  typeof value === "string" ? value.slice(0, longest) : "";

/** Columns with their cards in order; cards of unknown columns are in the first. */
export function read(state) {
  const named = Array.isArray(state.columns)
    ? state.columns.map((name) => text(name, 60)).filter(Boolean)
    : [];
  const names = [...new Set(named.length > 0 ? named : START)].slice(0, 12);
  const columns = new Map(names.map((name) => [name, []]));
  for (const [key, value] of Object.entries(state)) {
    if (!key.startsWith(PREFIX) || typeof value !== "object" || value === null)
      continue;
    const title = text(value.title, 300);
    if (title === "") continue;
    const column = columns.has(value.column) ? value.column : names[0];
    columns.get(column).push({
      id: key.slice(PREFIX.length),
      key,
      title,
      note: text(value.note, 2000),
      by: text(value.by, 60),
      column,
      order: Number.isFinite(value.order) ? value.order : 0,
    });
  }
  return [...columns].map(([name, cards]) => ({
    name,
    cards: cards.sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1)),
  }));
}

/** The number that puts a card at `index` among `cards`, which are in order and without it. */
export function orderAt(cards, index) {
  const before = cards[index - 1]?.order;
  const after = cards[index]?.order;
  if (before === undefined && after === undefined) return 0;
  if (before === undefined) return after - 1;
  if (after === undefined) return before + 1;
  return (before + after) / 2;
}

/** The patch that puts `card` at `index` of a column; more cards move where no number fits between. */
export function place(columns, card, columnName, index) {
  const column = columns.find(({ name }) => name === columnName);
  const others = column.cards.filter(({ id }) => id !== card.id);
  const order = orderAt(others, index);
  const fits =
    order !== others[index - 1]?.order && order !== others[index]?.order;
  if (fits)
    return { [card.key]: stored({ ...card, column: columnName, order }) };
  const all = [...others.slice(0, index), card, ...others.slice(index)];
  return Object.fromEntries(
    all.map((each, at) => [
      each.key,
      stored({ ...each, column: columnName, order: at }),
    ]),
  );
}

/** A card as it is kept in the state. */
export function stored({ title, note, by, column, order }) {
  return {
    title,
    column,
    order,
    ...(note && { note }),
    ...(by && { by }),
  };
}

export function newCard(columns, columnName, title) {
  const { cards } = columns.find(({ name }) => name === columnName);
  const id = crypto.randomUUID().slice(0, 8);
  const order = orderAt(cards, cards.length);
  return { [PREFIX + id]: { title, column: columnName, order, by: "person" } };
}
