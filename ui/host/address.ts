/** The page's route, which follows the `#` in its address, and the URLs of the server. */

export function route(): string {
  return location.hash.slice(1) || "/";
}

/** Returns the URL of a path, without the user and password that the page's URL may have: fetch rejects such URLs. */
export function serverUrl(path: string): URL {
  const url = new URL(path, document.baseURI);
  url.username = "";
  url.password = "";
  return url;
}
