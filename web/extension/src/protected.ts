// Fields that only the user may read or fill in: passwords, codes, and payment.
import type { Field } from "./elements.js";

const AUTOCOMPLETE = /^(current-password|new-password|one-time-code|cc-.+)$/;

/** In names, ids and labels, after they were split into words. */
const WORDS = new RegExp(
  `\\b(${[
    ...["pass ?(word|wd|code|phrase)", "passwd", "pwd", "pin( code)?"],
    ...["otp", "totp", "(one time|security|verification) (code|password)"],
    ...["passwort", "kennwort", "contrase[nñ]a", "mot de passe", "parola"],
    ...["cvv2?", "cvc2?", "csc", "iban", "(sort|routing) (code|number)"],
    ...["(credit|debit|bank|payment)? ?card ?(number|num|no|holder|expiry)"],
    ...["cc ?(number|num|no|exp|csc|cvc|name)?", "kartennummer"],
    ...["(bank )?account (number|no)", "kontonummer", "social security"],
  ].join("|")})\\b`,
);

export function isProtected(field: Field): boolean {
  if (field instanceof HTMLInputElement && field.type === "password") {
    return true;
  }
  const tokens = (field.getAttribute("autocomplete") ?? "").toLowerCase();
  if (tokens.split(/\s+/).some((token) => AUTOCOMPLETE.test(token))) {
    return true;
  }
  const attributes = ["name", "id", "aria-label", "placeholder"];
  const given = attributes.map((name) => field.getAttribute(name) ?? "");
  const labels = [...(field.labels ?? [])].map((one) => one.textContent);
  if ([...given, ...labels].some((text) => WORDS.test(words(text)))) {
    return true;
  }
  // A password that only looks like one.
  const masked = getComputedStyle(field).getPropertyValue(
    "-webkit-text-security",
  );
  return masked !== "" && masked !== "none";
}

/** `cardNumber`, `card_number` and `card-number` are two words each. */
function words(text: string): string {
  return text
    .slice(0, 300)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .toLowerCase();
}
