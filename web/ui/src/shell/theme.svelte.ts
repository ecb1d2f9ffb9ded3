// Light, dark, or whatever the system says.
import { read, write } from "../storage.js";

export type Theme = "auto" | "light" | "dark";
const ORDER: readonly Theme[] = ["auto", "light", "dark"];

export class ThemeState {
  current: Theme = $state(stored());

  next(): void {
    const index = ORDER.indexOf(this.current);
    this.current = ORDER[(index + 1) % ORDER.length] ?? "auto";
    const root = document.documentElement;
    if (this.current === "auto") delete root.dataset["theme"];
    else root.dataset["theme"] = this.current;
    write("theme", this.current === "auto" ? "" : this.current);
  }
}

function stored(): Theme {
  const value = read("theme");
  return value === "light" || value === "dark" ? value : "auto";
}
