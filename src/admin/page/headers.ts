// What every answer carries, errors and unreadable requests included. There is no
// Access-Control-Allow-Origin, ever: no other site has business here.

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
  // The page never makes markup from text, so there is no policy that it could need.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const noFeatures = ["camera", "microphone", "geolocation", "payment", "usb", "serial", "hid"]
  .map((feature) => `${feature}=()`)
  .join(", ");

/** On every answer whatever happens; kept out of caches. */
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
  /** Of an asset that was found: any cache may keep it for an hour. */
  readonly asset: Headers;
  /** Of one whose name changes with its bytes: kept for ever. */
  readonly hashed: Headers;
}

/** `hsts`: what browsers are told of HTTPS; null: nothing. */
export function pageHeaders(hsts: string | null): PageHeaders {
  const usual = Object.freeze({
    ...securityHeaders,
    ...(hsts === null ? {} : { "strict-transport-security": hsts }),
  });
  const cached = (control: string) => Object.freeze({ ...usual, "cache-control": control });
  return {
    usual,
    asset: cached("public, max-age=3600"),
    hashed: cached("public, max-age=31536000, immutable"),
  };
}
