// Who may come in: the four modes, exactly. Returns the user's name or refuses with 401 or 429. Nothing is
// compared that the throttle does not allow: 429 is the same for right and wrong credentials.
import { Refusal } from "../../http/refusal.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Secret } from "./secret.ts";

export const authModes = ["basic", "bearer", "header", "none"] as const;
/**
 * The mode in which users of the admin authenticate. `basic`: name and password; `bearer`: a token in the
 * Authorization header; `header`: a token in a header of your own; `none`: no authentication.
 */
export type AuthMode = (typeof authModes)[number];

/** The checked authentication of an admin. Secrets are digests. */
export interface AuthConfig {
  /** The mode of authentication. */
  readonly mode: AuthMode;
  /** The user name of mode `basic`; otherwise null. */
  readonly username: string | null;
  /** The header of mode `header`, in lower case; otherwise null. */
  readonly headerName: string | null;
  /** The digest of the secret, in mode `basic` of `username:password`; null in mode `none`. */
  readonly secret: Secret | null;
  /** The secret when it was generated; null when it was configured. */
  readonly generatedSecret: string | null;
  /**
   * Whether the configured secret has fewer than 12 characters, too short for a server that other machines can
   * reach.
   */
  readonly hasShortSecret: boolean;
}

/** Below this many characters a configured secret is short. */
export const SHORTEST_SECRET = 12;

export function isShortSecret(text: string): boolean {
  return [...text].length < SHORTEST_SECRET;
}

/** What became of credentials that a client has sent; throttled ones were not compared. */
export type LoginResult = "accepted" | "wrong" | "throttled";

export interface Authentication {
  /**
   * Returns the name for the access log. Throws Refusal: 401 without credentials or with wrong ones, 429
   * for credentials that are not compared. `isScrape`: the token for metrics is accepted, too.
   */
  identify(request: HttpRequest, isScrape: boolean): string;
}

export interface AuthenticationOptions {
  readonly auth: AuthConfig;
  /** Which environment this is: all that a stranger is told of the server. */
  readonly label: string | null;
  /** What a scraper of metrics may send as a bearer token. */
  readonly metricsToken: Secret | null;
  readonly onLogin: (result: LoginResult, request: HttpRequest) => void;
  readonly throttle: LoginThrottle;
}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { auth, label, metricsToken, onLogin, throttle } = options;
  const { secret } = auth;
  if (secret === null) return { identify: () => "anonymous" };

  const isScraper = (token: string | null, request: HttpRequest) => {
    if (token === null || !metricsToken?.matches(token)) return false;
    throttle.accepted("metrics", request.client);
    onLogin("accepted", request);
    return true;
  };

  return {
    identify(request, isScrape) {
      const { client } = request;
      const token = isScrape && metricsToken !== null ? offeredIn("bearer", request) : null;
      if (throttle.isKnown("metrics", client) && isScraper(token, request)) return "metrics";
      const offered = offeredSecret(auth, request) ?? token;
      if (offered === null) throw unauthorized(auth, label, `this needs ${needed(auth)}`);
      if (!throttle.mayCompare(client)) {
        onLogin("throttled", request);
        throw new Refusal(429, "too_many_logins", TOO_MANY, { headers: { "retry-after": "1" } });
      }
      if (isScraper(token, request)) return "metrics";
      if (!secret.matches(offered)) {
        onLogin("wrong", request);
        const message = `these credentials are wrong; this needs ${needed(auth)}`;
        throw unauthorized(auth, label, message);
      }
      throttle.accepted("login", client);
      onLogin("accepted", request);
      return auth.username ?? auth.mode;
    },
  };
}

const TOO_MANY =
  "too many logins at once from networks that have not logged in within an hour: these credentials were not checked; try again in a second";

/** What the request offers, wrong or right; null when it offers nothing. */
function offeredSecret(auth: AuthConfig, request: HttpRequest): string | null {
  // A proxy may send the header empty for whoever has no token: that is no attempt to guess it.
  if (auth.mode === "header") return header(request, auth.headerName ?? "") || null;
  const offered = offeredIn(auth.mode, request);
  return auth.mode === "basic" && offered !== null ? decodeBasic(offered) : offered;
}

/** What stands in the header Authorization behind its scheme. */
function offeredIn(wanted: string, request: HttpRequest): string | null {
  const text = header(request, "authorization") ?? "";
  const space = text.indexOf(" ");
  if (space < 0 || text.slice(0, space).toLowerCase() !== wanted) return null;
  return text.slice(space).trimStart();
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

function unauthorized(auth: AuthConfig, label: string | null, message: string): Refusal {
  const challenge = challenges[auth.mode];
  return new Refusal(401, "unauthorized", message, {
    headers: challenge === undefined ? {} : { "www-authenticate": challenge },
    // So that the page knows how to ask.
    members: { auth: { mode: auth.mode, header_name: auth.headerName, label } },
  });
}
