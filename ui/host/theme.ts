/** The theme is an attribute of the page and a preference of the browser: nothing secret. */
const KEY = "worker.theme";
const THEMES = ["system", "light", "dark"];

/** Sets the remembered theme before anything is drawn, and gives its name. */
export function restoreTheme(): string {
  let name = "system";
  try {
    name = localStorage.getItem(KEY) ?? name;
  } catch {
    // Storage may be switched off.
  }
  const known = THEMES.includes(name) ? name : "system";
  document.documentElement.dataset["theme"] = known;
  return known;
}

export function setTheme(name: string): void {
  document.documentElement.dataset["theme"] = name;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // Then it lasts until the page is closed.
  }
}
