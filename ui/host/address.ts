/** Addresses: the route behind the `#`, and the server's paths under whatever base the page has. */

export function route(): string {
  return location.hash.slice(1) || "/";
}

/** fetch refuses addresses with a user and a password, and the page's own may have them. */
export function serverUrl(path: string): URL {
  const url = new URL(path, document.baseURI);
  url.username = "";
  url.password = "";
  return url;
}
