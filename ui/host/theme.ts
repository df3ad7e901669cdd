/** The theme is an attribute of the page and a preference of the browser. */
import { prefer, preferred } from "./preferences.ts";

const KEY = "worker.theme";
const THEMES = ["system", "light", "dark"];

/** Sets the remembered theme before anything is drawn, and gives its name. */
export function restoreTheme(): string {
  const name = preferred(KEY);
  const known = THEMES.includes(name) ? name : "system";
  document.documentElement.dataset["theme"] = known;
  return known;
}

export function setTheme(name: string): void {
  document.documentElement.dataset["theme"] = name;
  prefer(KEY, name);
}
