/** The page's route, which follows the `#` in its address, and the URLs of the server. */

export function route(): string {
  return location.hash.slice(1) || "/";
}

/**
 * Returns the URL of a path on the server. It has no user and no password, even if the page's URL has them, because
 * fetch() rejects a URL with credentials.
 */
export function serverUrl(path: string): URL {
  const url = new URL(path, document.baseURI);
  url.username = "";
  url.password = "";
  return url;
}
