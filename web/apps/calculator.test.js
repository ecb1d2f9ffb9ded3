// The calculator's expressions: what they come to, and what is refused.
import { expect, test } from "vitest";
import { evaluate, format } from "../../apps/calculator/expression.js";

test.each([
  ["1 + 2 * 3", "7"],
  ["(1 + 2) × 3", "9"],
  ["2^3^2", "512"],
  ["-2^2", "−4"],
  ["2^-1", "0.5"],
  ["0.1 + 0.2", "0.3"],
  ["200 * 15%", "30"],
  ["5!", "120"],
  ["2pi", "6.28318530718"],
  ["2(3 + 4)", "14"],
  ["√(16) + sqrt(9)", "7"],
  ["max(1, 7, 3) − min(2, 4)", "5"],
  ["1.5e3 ÷ 3", "500"],
  ["--3", "3"],
  ["ans + 1", "43"],
])("%s is %s", (expression, result) => {
  expect(format(evaluate(expression, 42))).toBe(result);
});

test.each([
  ["1 +", "Expected a number, found the end."],
  ["(1 + 2", "Expected “)”, found the end."],
  ["1 / 0", "Division by zero."],
  ["sqrt(0 - 4)", "This has no real result."],
  ["10^400", "The result is too large."],
  ["alert(1)", "“alert” is not supported."],
  ["constructor", "“constructor” is not supported."],
  ["1; 2", "“;” is not supported."],
  ["2 3", "Expected an operator, found “3”."],
  ["171!", "Factorials are supported for whole numbers from 0 to 170."],
])("%s is refused", (expression, message) => {
  expect(() => evaluate(expression)).toThrow(message);
});

test("brackets without end do not end the stack", () => {
  expect(() => evaluate("(".repeat(10_000))).toThrow(
    "Too many nested brackets.",
  );
  expect(evaluate(`${"-".repeat(20_000)}1`)).toBe(1);
});
