/** The user's preferences, stored in this browser: nothing secret, no data. */

export function preferred(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    // The storage may be switched off.
    return "";
  }
}

export function prefer(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without the storage a preference lasts until the page is closed.
  }
}
