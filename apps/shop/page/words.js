// What happened between the shop and a Gangway, in words for a customer.

/** For a page without window.agent. */
export function noGangway(server) {
  return `No Gangway found at ${server}. Start it with the command gangway and reload this page. The shop also works without it.`;
}

const PLAIN = {
  ERR_PERMISSION_DENIED:
    "Permission denied. Nothing was connected. You can change this in Gangway under Permissions.",
  ERR_SCOPE_REQUIRED:
    "The permission has expired. Press the button to request it again.",
  ERR_RATE_LIMITED: "Too many requests. Wait a moment and try again.",
  ERR_TIMEOUT: "The request timed out. Press the button again.",
  ERR_ABORTED: "Stopped.",
  USER_DENIED:
    "Permission denied. You can change this in Gangway under Permissions.",
  CONNECTION_FAILED: "Gangway could not reach our server.",
  ALREADY_OPEN: "The chat is already open.",
  PERMISSION_REQUIRED:
    "The permission for the chat has expired. Press Connect Gangway again.",
  NOT_AVAILABLE: "Gangway does not open chats inside other pages.",
};

/** Plain words for an error; what is not known here speaks for itself. */
export function plainWords(error) {
  const { code, message } = error ?? {};
  if (code === "CONNECTION_FAILED") return `${PLAIN[code]} Details: ${message}`;
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
  if (now === 0) return `${who} removed ${name} from the cart.`;
  if (now > before)
    return `${who} added ${now - before} × ${name} to the cart.`;
  return `${who} removed ${before - now} × ${name} from the cart.`;
}
