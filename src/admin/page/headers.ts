// The headers that every response has, including errors and the responses to requests that are not valid HTTP.
// Access-Control-Allow-Origin is never sent, so no other site may read a response.

type Headers = Readonly<Record<string, string>>;

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  // The page never creates markup from text, so it needs no trusted types.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const noFeatures = ["camera", "microphone", "geolocation", "payment", "usb", "serial", "hid"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** The headers of every response. Only assets have another cache-control. */
const securityHeaders: Headers = Object.freeze({
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "permissions-policy": noFeatures,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
});

export interface PageHeaders {
  readonly usual: Headers;
  /** Headers for an asset that was found. Any cache may store it for an hour. */
  readonly asset: Headers;
  /** Headers for an asset whose name changes with its content. Caches may store it for a year. */
  readonly hashed: Headers;
}

/** Returns the headers. `hsts`: the value of Strict-Transport-Security; null: the header is not sent. */
export function pageHeaders(hsts: string | null): PageHeaders {
  const usual = Object.freeze({
    ...securityHeaders,
    ...(hsts === null ? {} : { "strict-transport-security": hsts }),
  });
  const headersWith = (control: string) => Object.freeze({ ...usual, "cache-control": control });
  return {
    usual,
    asset: headersWith("public, max-age=3600"),
    hashed: headersWith("public, max-age=31536000, immutable"),
  };
}
