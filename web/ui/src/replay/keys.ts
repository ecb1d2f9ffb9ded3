// The keys of a replay.
import type { Player } from "./player.svelte.js";

export const SHORTCUTS = [
  ["Play or stop", "Space"],
  ["Next step", "→"],
  ["Previous step", "←"],
  ["Ten steps on", "Shift+→"],
  ["Ten steps back", "Shift+←"],
  ["First step", "Home"],
  ["Last step", "End"],
  ["Search", "/"],
  ["These shortcuts", "?"],
] as const;

// Where a key means something of its own. What is only looked at may have the focus as well.
const TAKES_KEYS = "input, select, textarea, dialog[open], [contenteditable]";
const TAKES_SPACE = "button, summary, a[href], audio";

export interface Keys {
  player: Player;
  search?: () => void;
  help?: () => void;
}

/** Does what a key is for; false if it is for somebody else. */
export function pressed(event: KeyboardEvent, keys: Keys): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
    return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(TAKES_KEYS)) return false;
  const { player } = keys;
  const far = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case " ":
      if (target?.closest(TAKES_SPACE)) return false;
      player.toggle();
      break;
    case "ArrowRight":
      player.by(far);
      break;
    case "ArrowLeft":
      player.by(-far);
      break;
    case "Home":
      player.goTo(0);
      break;
    case "End":
      player.goTo(Infinity);
      break;
    case "/":
      if (!keys.search) return false;
      keys.search();
      break;
    case "?":
      if (!keys.help) return false;
      keys.help();
      break;
    default:
      return false;
  }
  event.preventDefault();
  return true;
}
