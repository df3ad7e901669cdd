/** Texts stored in this browser. If the browser blocks storage, a text is lost when the page is closed or reloaded. */

/** Preferences: nothing secret, no data. */
export const preferred = (key: string) => read("localStorage", key);
export const prefer = (key: string, value: string) => write("localStorage", key, value);

/** Texts for this tab only. */
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
    // The application has the text, too.
  }
}
