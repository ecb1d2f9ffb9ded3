// What happened between the shop and a Gangway, in words for a customer.

/** For a page without window.agent. */
export function noGangway(server) {
  return `There is no Gangway at ${server}. Start it with the command gangway and load this page anew. The shop works without it, too.`;
}

const PLAIN = {
  ERR_PERMISSION_DENIED:
    "You did not allow that. Nothing was connected. In Gangway, under Permissions, you can change your mind.",
  ERR_SCOPE_REQUIRED:
    "The permission has ended. Press the button again to be asked anew.",
  ERR_RATE_LIMITED: "That was too often. Wait a moment and try again.",
  ERR_TIMEOUT: "Nobody answered in time. Press the button again.",
  ERR_ABORTED: "Stopped.",
  USER_DENIED:
    "You did not allow that. In Gangway, under Permissions, you can change your mind.",
  CONNECTION_FAILED: "Your Gangway could not reach our server.",
  ALREADY_OPEN: "The chat is open already.",
  PERMISSION_REQUIRED:
    "The permission for the chat has ended. Press Connect my Gangway again.",
  NOT_AVAILABLE: "Your Gangway opens no chat inside other pages.",
};

/** Plain words for an error; what is not known here speaks for itself. */
export function plainWords(error) {
  const { code, message } = error ?? {};
  if (code === "CONNECTION_FAILED") return `${PLAIN[code]} It says: ${message}`;
  return PLAIN[code] ?? message ?? "That failed.";
}

const euros = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "EUR",
  maximumFractionDigits: 0,
});

export const price = (amount) => euros.format(amount);

/** What changed in the cart, as somebody would say it. */
export function changeWords({ name, before, now, by }) {
  const who = by === "assistant" ? "The assistant" : "You";
  if (now === 0) return `${who} took ${name} out of the cart.`;
  if (now > before)
    return `${who} put ${now - before} × ${name} into the cart.`;
  return `${who} took ${before - now} × ${name} out of the cart.`;
}
