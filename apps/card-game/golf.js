// The rules of golf solitaire. A game is plain data; every move makes a new one.

export const LEVELS = {
  easy: { rows: 4, wraps: true },
  medium: { rows: 5, wraps: true },
  hard: { rows: 5, wraps: false },
};
export const COLUMNS = 7;
const SUITS = ["clubs", "diamonds", "hearts", "spades"];
const RANKS = [
  ...["ace", "two", "three", "four", "five", "six", "seven", "eight"],
  ...["nine", "ten", "jack", "queen", "king"],
];

export const rankOf = (card) => card % 13;
export const suitOf = (card) => Math.floor(card / 13);
export const nameOf = (card) =>
  `${RANKS[rankOf(card)]} of ${SUITS[suitOf(card)]}`;
export const isLevel = (level) => Object.hasOwn(LEVELS, level);

/** Numbers between 0 and 1, the same ones for the same seed. */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** All 52 cards in an order that depends on the seed alone. */
export function shuffled(seed) {
  const next = numbers(seed);
  const cards = Array.from({ length: 52 }, (_, card) => card);
  for (let at = cards.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [cards[at], cards[other]] = [cards[other], cards[at]];
  }
  return cards;
}

export function deal(seed, level) {
  const cards = shuffled(seed);
  const { rows } = LEVELS[level];
  const columns = Array.from({ length: COLUMNS }, (_, at) =>
    cards.slice(at * rows, (at + 1) * rows),
  );
  const rest = cards.slice(COLUMNS * rows);
  return {
    seed,
    level,
    columns,
    pile: rest.slice(0, 1),
    stock: rest.slice(1),
    moves: 0,
    before: null,
  };
}

export const topOf = (game) => game.pile.at(-1);
export const lastOf = (column) => column.at(-1);

/** Whether `card` may go on `under`. */
export function fits(card, under, level) {
  const [upper, lower] = [rankOf(card), rankOf(under)];
  const apart = Math.abs(upper - lower);
  if (LEVELS[level].wraps) return apart === 1 || apart === 12;
  return apart === 1 && lower !== 12;
}

/** The columns whose last card may be played now. */
export function playable(game) {
  return game.columns.flatMap((column, at) => {
    const card = lastOf(column);
    return card !== undefined && fits(card, topOf(game), game.level)
      ? [at]
      : [];
  });
}

/** The game after the last card of a column was played, or the same game where it may not be. */
export function play(game, at) {
  if (!playable(game).includes(at)) return game;
  const column = game.columns[at];
  return {
    ...game,
    columns: game.columns.with(at, column.slice(0, -1)),
    pile: [...game.pile, lastOf(column)],
    moves: game.moves + 1,
    before: game,
  };
}

/** The game after a card of the stock was turned, or the same game where there is none. */
export function draw(game) {
  const [card, ...stock] = game.stock;
  if (card === undefined || isWon(game)) return game;
  return {
    ...game,
    stock,
    pile: [...game.pile, card],
    moves: game.moves + 1,
    before: game,
  };
}

/** One move back; taking back is a move too. */
export function undo(game) {
  return game.before ? { ...game.before, moves: game.moves + 1 } : game;
}

export const cardsLeft = (game) =>
  game.columns.reduce((sum, column) => sum + column.length, 0);
export const isWon = (game) => cardsLeft(game) === 0;
export const isOver = (game) =>
  isWon(game) || (game.stock.length === 0 && playable(game).length === 0);

/** How many cards can be played in a row from here, looking so far ahead. */
function run(game, depth) {
  if (depth === 0) return 0;
  return Math.max(
    0,
    ...playable(game).map((at) => 1 + run(play(game, at), depth - 1)),
  );
}

/** The column that opens the longest run, `"stock"`, or nothing. */
export function hint(game) {
  const choices = playable(game).map((at) => {
    const after = play(game, at);
    // Of equal runs the one from the fuller column keeps more columns open.
    return { at, worth: run(after, 6) * 10 + game.columns[at].length };
  });
  if (choices.length > 0) {
    return choices.reduce((best, each) =>
      each.worth > best.worth ? each : best,
    ).at;
  }
  return game.stock.length > 0 ? "stock" : null;
}
