// What the demos say when something stands between them and a Gangway.
import { expect, test } from "vitest";
import {
  NO_GANGWAY,
  plainWords,
  refusedWords,
} from "../../apps/vendor/plain-words.js";

test("problems are explained", () => {
  expect(plainWords({ code: "ERR_NOT_INSTALLED" })).toBe(NO_GANGWAY);
  expect(
    plainWords({ code: "ERR_MODEL_FAILED", message: "none there" }),
  ).toMatch(/under Models.*none there/);
  expect(plainWords(new TypeError("odd"))).toBe("odd");
  expect(refusedWords({ scopes: { "model:prompt": "denied" } })).toMatch(
    /Permission denied/,
  );
  expect(refusedWords({ scopes: { "model:prompt": "not-granted" } })).toMatch(
    /closed without a decision/,
  );
});
