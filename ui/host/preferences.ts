/** The user's preferences, kept in this browser: nothing secret, no data. */

export function preferred(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    // Storage may be switched off.
    return "";
  }
}

export function prefer(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Then it lasts until the page is closed.
  }
}
