// What stands between a page and the person's Gangway, in plain words.

export const NO_GANGWAY =
  "There is no Gangway here, so there is no model to ask. Open this page from Gangway: start it with the command gangway.";

const PLAIN = {
  ERR_NOT_INSTALLED: NO_GANGWAY,
  ERR_PERMISSION_DENIED:
    "You did not allow it. In Gangway, under Permissions, you can change your mind.",
  ERR_SCOPE_REQUIRED:
    "The permission has ended. Press the button and you are asked again.",
  ERR_RATE_LIMITED: "That was too often. Wait a moment and try again.",
  ERR_TIMEOUT: "There was no answer in time. Try again.",
  ERR_ABORTED: "Stopped.",
};

/** Plain words for an error. */
export function plainWords(error) {
  const { code, message } = error ?? {};
  if (code === "ERR_MODEL_FAILED") {
    return `No model answered. In Gangway, under Models, you can choose or fetch one. It says: ${message}`;
  }
  return PLAIN[code] ?? message ?? "That failed.";
}

/** Why a request for permissions was not granted: `answer` of requestPermissions. */
export function refusedWords({ scopes }) {
  return Object.values(scopes).includes("denied")
    ? PLAIN.ERR_PERMISSION_DENIED
    : "You closed the question, so nothing was done. Press the button and you are asked again.";
}
