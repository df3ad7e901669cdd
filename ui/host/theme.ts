/** The theme (`system`, `light` or `dark`) is an attribute of the document, and stored as a preference. */
import { prefer, preferred } from "./storage.ts";

const KEY = "worker.theme";

/** Sets the stored theme; without one, `system`. */
export function restoreTheme(): void {
  document.documentElement.dataset["theme"] = preferred(KEY) || "system";
}

export function currentTheme(): string {
  return document.documentElement.dataset["theme"] as string;
}

export function setTheme(name: string): void {
  document.documentElement.dataset["theme"] = name;
  prefer(KEY, name);
}
