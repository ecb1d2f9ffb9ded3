// The entry of gangway.js: finds out where Gangway is.
import { install } from "./page.js";

// For pages that get the script from elsewhere, the server writes its own origin over this word.
const origin = "__GANGWAY_ORIGIN__";
const { currentScript } = document;
if (origin.startsWith("http")) install(origin);
else if (currentScript instanceof HTMLScriptElement && currentScript.src) {
  install(new URL(currentScript.src).origin);
} else {
  console.error(
    "gangway.js cannot determine its origin: include it with <script src>, not as a module.",
  );
}
