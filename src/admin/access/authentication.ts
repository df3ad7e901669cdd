// Who may come in: the four modes, exactly. Says who it is or refuses with 401 or 429.
import { Refusal } from "../../http/refusal.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import type { Secret } from "./secret.ts";

export const authModes = ["basic", "bearer", "header", "none"] as const;
/** How a user of the admin says who it is. */
export type AuthMode = (typeof authModes)[number];

/** What AuthOptions came to; secrets are digests. */
export interface AuthConfig {
  readonly mode: AuthMode;
  /** basic: whom the browser asks for. */
  readonly username: string | null;
  /** header: the header that holds the token, lower-case. */
  readonly headerName: string | null;
  /** null in mode none. In basic mode the secret is `username:password`. */
  readonly secret: Secret | null;
  /** The secret when it was generated here; a configured one is not known any more. */
  readonly generatedSecret: string | null;
}

export interface Authentication {
  /** The name for the access log. Throws Refusal 401 without, 429 after too many wrong credentials. */
  identify(request: HttpRequest): string;
}

export function createAuthentication(auth: AuthConfig): Authentication {
  const throttle = createLoginThrottle();
  const { secret } = auth;
  if (secret === null) return { identify: () => "anonymous" };
  return {
    identify(request) {
      const offered = offeredSecret(auth, request);
      if (offered === null) throw unauthorized(auth, `this needs ${needed(auth)}`);
      const delay_s = throttle.delay_s(request.remoteAddress);
      if (delay_s > 0) {
        const message = `too many failed logins from here; try again in ${delay_s} seconds`;
        throw new Refusal(429, "too_many_logins", message, {
          headers: { "retry-after": String(delay_s) },
        });
      }
      if (!secret.matches(offered)) {
        throttle.failed(request.remoteAddress);
        throw unauthorized(auth, `these credentials are wrong; this needs ${needed(auth)}`);
      }
      return auth.username ?? auth.mode;
    },
  };
}

/** What the request offers, wrong or right; null when it offers nothing. */
function offeredSecret(auth: AuthConfig, request: HttpRequest): string | null {
  // A proxy may send the header empty for whoever has no token: that is no attempt to guess it.
  if (auth.mode === "header") return header(request, auth.headerName ?? "") || null;
  const [, scheme, value] = /^([^ ]+) +(.*)$/.exec(header(request, "authorization") ?? "") ?? [];
  if (scheme?.toLowerCase() !== auth.mode || value === undefined) return null;
  return auth.mode === "basic" ? decodeBasic(value) : value;
}

/** `user:password` in UTF-8 (RFC 7617); what is not UTF-8 becomes something that never matches. */
function decodeBasic(value: string): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return basicSecret(decoder.decode(Buffer.from(value, "base64")));
  } catch {
    return "";
  }
}

/** Composed and decomposed letters look the same to whoever types them. */
export function basicSecret(usernameAndPassword: string): string {
  return usernameAndPassword.normalize("NFC");
}

function needed({ mode, headerName }: AuthConfig): string {
  if (mode === "basic") return "a user name and password";
  return mode === "bearer" ? "the bearer token" : `the token in the header ${headerName}`;
}

const challenges: Partial<Record<AuthMode, string>> = {
  basic: 'Basic realm="worker admin", charset="UTF-8"',
  bearer: "Bearer",
};

function unauthorized(auth: AuthConfig, message: string): Refusal {
  const challenge = challenges[auth.mode];
  return new Refusal(401, "unauthorized", message, {
    headers: challenge === undefined ? {} : { "www-authenticate": challenge },
    // So that the page knows how to ask.
    members: { auth: { mode: auth.mode, header_name: auth.headerName } },
  });
}
