// Golf solitaire: the rules, the end, and games that can be won.
import { expect, test } from "vitest";
import {
  cardsLeft,
  deal,
  draw,
  fits,
  hint,
  isLevel,
  isOver,
  isWon,
  nameOf,
  play,
  playable,
  shuffled,
  topOf,
  undo,
} from "../../apps/card-game/golf.js";

const [ACE, TWO, QUEEN, KING] = [0, 1, 11, 12];

test("a seed always deals the same cards, each once", () => {
  expect(shuffled(7)).toEqual(shuffled(7));
  expect(shuffled(7)).not.toEqual(shuffled(8));
  expect(new Set(shuffled(7)).size).toBe(52);
});

test.each([
  ["easy", 4, 23],
  ["medium", 5, 16],
  ["hard", 5, 16],
])("%s has %i rows and %i cards in the stock", (level, rows, stock) => {
  const game = deal(1, level);
  expect(game.columns.map(({ length }) => length)).toEqual(Array(7).fill(rows));
  expect([game.stock.length, game.pile.length]).toEqual([stock, 1]);
  const all = [...game.columns.flat(), ...game.stock, ...game.pile];
  expect(new Set(all).size).toBe(52);
});

test("one higher or one lower fits, and on hard a king ends a run", () => {
  expect(fits(TWO, ACE, "hard")).toBe(true);
  expect(fits(TWO, ACE + 13, "medium")).toBe(true);
  expect(fits(ACE, ACE + 13, "medium")).toBe(false);
  expect(fits(KING, ACE, "medium")).toBe(true);
  expect(fits(KING, ACE, "hard")).toBe(false);
  expect(fits(QUEEN, KING, "medium")).toBe(true);
  expect(fits(QUEEN, KING, "hard")).toBe(false);
  expect(fits(KING, QUEEN, "hard")).toBe(true);
});

test("a card that does not fit stays where it is, and so does everything else", () => {
  const game = deal(3, "hard");
  const closed = [0, 1, 2, 3, 4, 5, 6].find(
    (at) => !playable(game).includes(at),
  );
  expect(play(game, closed)).toBe(game);
  expect(play(game, 99)).toBe(game);
});

test("a played card is on the pile, and undo brings it back as one more move", () => {
  let game = deal(3, "easy");
  while (playable(game).length === 0) game = draw(game);
  const [at] = playable(game);
  const after = play(game, at);
  expect(topOf(after)).toBe(game.columns[at].at(-1));
  expect(cardsLeft(after)).toBe(cardsLeft(game) - 1);
  const back = undo(after);
  expect(back.columns).toEqual(game.columns);
  expect(back.moves).toBe(after.moves + 1);
  const fresh = deal(3, "easy");
  expect(undo(fresh)).toBe(fresh);
});

test("an empty stock turns nothing, and then a game without a move is over", () => {
  let game = deal(5, "hard");
  for (let at = 0; at < 20; at += 1) game = draw(game);
  expect(game.stock).toEqual([]);
  expect(draw(game)).toBe(game);
  while (playable(game).length > 0) game = play(game, playable(game)[0]);
  expect(isOver(game)).toBe(true);
  expect(hint(game)).toBeNull();
});

test("following the hints always ends the game, and wins more on easy than on hard", () => {
  const wins = (level) => {
    let won = 0;
    for (let seed = 0; seed < 60; seed += 1) {
      let game = deal(seed, level);
      while (!isOver(game)) {
        const move = hint(game);
        const next = move === "stock" ? draw(game) : play(game, move);
        expect(next).not.toBe(game);
        game = next;
      }
      if (isWon(game)) won += 1;
    }
    return won;
  };
  const [easy, hard] = [wins("easy"), wins("hard")];
  expect(easy).toBeGreaterThan(10);
  expect(easy).toBeGreaterThan(hard);
});

test("cards have names, and only three levels are levels", () => {
  expect(nameOf(0)).toBe("ace of clubs");
  expect(nameOf(51)).toBe("king of spades");
  expect(["easy", "toString", undefined].map(isLevel)).toEqual([
    true,
    false,
    false,
  ]);
});
