// What every answer carries, errors and unreadable requests included. There is no
// Access-Control-Allow-Origin, ever: no other site has business here.

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
export const securityHeaders: Readonly<Record<string, string>> = Object.freeze({
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "permissions-policy": noFeatures,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
});

/** The same for an asset that was found: any cache may keep it for an hour. */
export const assetHeaders: Readonly<Record<string, string>> = Object.freeze({
  ...securityHeaders,
  "cache-control": "public, max-age=3600",
});

/** The same for one whose name changes with its bytes: kept for ever. */
export const hashedHeaders: Readonly<Record<string, string>> = Object.freeze({
  ...securityHeaders,
  "cache-control": "public, max-age=31536000, immutable",
});
