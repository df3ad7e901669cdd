/** Addresses: the route after the `#`, and URLs of the server's paths below the page's base URL. */

export function route(): string {
  return location.hash.slice(1) || "/";
}

/** Returns the URL without a user and a password: the page's URL may have them, and fetch rejects such URLs. */
export function serverUrl(path: string): URL {
  const url = new URL(path, document.baseURI);
  url.username = "";
  url.password = "";
  return url;
}
