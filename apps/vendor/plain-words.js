// Error messages for pages that use Gangway.

export const NO_GANGWAY =
  "Gangway is not available on this page, so there is no model to use. Start it with the command gangway and open this page from there.";

const PLAIN = {
  ERR_NOT_INSTALLED: NO_GANGWAY,
  ERR_PERMISSION_DENIED:
    "Permission denied. You can change this in Gangway under Permissions.",
  ERR_SCOPE_REQUIRED:
    "The permission has expired. Press the button to request it again.",
  ERR_RATE_LIMITED: "Too many requests. Wait a moment and try again.",
  ERR_TIMEOUT: "The request timed out. Try again.",
  ERR_ABORTED: "Stopped.",
};

/** A message for an error. */
export function plainWords(error) {
  const { code, message } = error ?? {};
  if (code === "ERR_MODEL_FAILED") {
    return `No model answered. Choose or download one in Gangway under Models. Details: ${message}`;
  }
  return PLAIN[code] ?? message ?? "That failed.";
}

/** Why a request for permissions was not granted: `answer` of requestPermissions. */
export function refusedWords({ scopes }) {
  return Object.values(scopes).includes("denied")
    ? PLAIN.ERR_PERMISSION_DENIED
    : "The permission request was closed without a decision. Press the button to try again.";
}
