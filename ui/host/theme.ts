/** The theme is an attribute of the page and a preference of the browser. */
import { prefer, preferred } from "./storage.ts";

const KEY = "worker.theme";

/** Sets the remembered theme. */
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
