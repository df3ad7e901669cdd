/** Stores texts in this browser. If the browser blocks storage, a text is lost when the page is closed or reloaded. */

/** Preferences. They are stored for all tabs until they are removed, and contain no secrets and no server data. */
export const preferred = (key: string) => read("localStorage", key);
export const prefer = (key: string, value: string) => write("localStorage", key, value);

/** Texts for this tab only, such as the token. They are stored until the tab is closed. */
export const recall = (key: string) => read("sessionStorage", key);
export const remember = (key: string, value: string) => write("sessionStorage", key, value);

type Store = "localStorage" | "sessionStorage";

function read(store: Store, key: string): string {
  try {
    return globalThis[store].getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(store: Store, key: string, value: string): void {
  try {
    if (value) globalThis[store].setItem(key, value);
    else globalThis[store].removeItem(key);
  } catch {
    // Nothing is stored. Until a reload, the application has the text in its memory.
  }
}
