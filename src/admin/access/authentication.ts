// Checks the secret of a login (modes basic, bearer and header) and the token for metrics. Credentials beyond the limit
// per second are not compared. So their refusal (429) does not reveal whether the credentials are valid.
import { Refusal } from "../../http/refusal.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import { type AuthConfig, type AuthMode, basicSecret } from "./auth-config.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Secret } from "./secret.ts";

/** The result of a login. `throttled`: the credentials were not compared. */
export type LoginResult = "accepted" | "wrong" | "throttled";

export interface Authentication {
  /**
   * Returns `metrics` for the token for metrics, the user name in mode `basic`, `anonymous` in mode `none`, and
   * `bearer` or `header` in these modes. The token for metrics is accepted only if `isScrape` is true. Throws Refusal:
   * 401 for missing or wrong credentials, 429 if throttled. Not for mode `custom`.
   */
  identify(request: HttpRequest, isScrape: boolean): string;
  /**
   * Compares the request's bearer token with the token for metrics. Returns null if one of the two tokens is missing.
   * Throws Refusal 429 if throttled.
   */
  scrape(request: HttpRequest): "accepted" | "wrong" | null;
}

export interface AuthenticationOptions {
  readonly auth: AuthConfig;
  /** The name of the environment, for the login form; null without a name. */
  readonly label: string | null;
  /** The digest of the bearer token that gives access to /metrics only; null without one. */
  readonly metricsToken: Secret | null;
  readonly onLogin: (result: LoginResult, request: HttpRequest) => void;
  readonly throttle: LoginThrottle;
}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { auth, label, metricsToken, onLogin, throttle } = options;
  const { secret } = auth;

  const acceptScraper = (token: string | null, request: HttpRequest) => {
    if (token === null || !metricsToken?.matches(token)) return false;
    throttle.recordSuccess("metrics", request.client);
    onLogin("accepted", request);
    return true;
  };

  const assertMayCompare = (request: HttpRequest) => {
    if (throttle.mayCompare(request.client)) return;
    onLogin("throttled", request);
    throw new Refusal(429, "too_many_logins", TOO_MANY, { headers: { "retry-after": "1" } });
  };

  return {
    scrape(request) {
      const token = metricsToken === null ? null : authorizationOf("bearer", request);
      if (token === null) return null;
      if (!throttle.hasLoggedIn("metrics", request.client)) assertMayCompare(request);
      return acceptScraper(token, request) ? "accepted" : "wrong";
    },
    identify(request, isScrape) {
      if (auth.mode === "none") return "anonymous";
      if (auth.mode === "custom" || secret === null) throw new Error("this login has no secret");
      const { client } = request;
      const token = isScrape && metricsToken !== null ? authorizationOf("bearer", request) : null;
      if (throttle.hasLoggedIn("metrics", client) && acceptScraper(token, request))
        return "metrics";
      const secretSent = secretIn(auth, request) ?? token;
      if (secretSent === null)
        throw unauthorizedRefusal(auth, label, `no credentials; send ${credentialsOf(auth)}`);
      assertMayCompare(request);
      if (acceptScraper(token, request)) return "metrics";
      if (!secret.matches(secretSent)) {
        onLogin("wrong", request);
        const message = `invalid credentials; send ${credentialsOf(auth)}`;
        throw unauthorizedRefusal(auth, label, message);
      }
      throttle.recordSuccess("login", client);
      onLogin("accepted", request);
      return auth.username ?? auth.mode;
    },
  };
}

const TOO_MANY =
  "too many logins at once from networks that have not logged in within an hour: these credentials were not checked; try again in a second";

function secretIn(auth: AuthConfig, request: HttpRequest): string | null {
  // An empty header counts as missing. A proxy may send such a header for a client without a token.
  if (auth.mode === "header") return header(request, auth.headerName ?? "") || null;
  const secretSent = authorizationOf(auth.mode, request);
  return auth.mode === "basic" && secretSent !== null ? decodeBasic(secretSent) : secretSent;
}

/** Returns the text after the scheme `wanted` in the Authorization header. */
function authorizationOf(wanted: string, request: HttpRequest): string | null {
  const text = header(request, "authorization") ?? "";
  const space = text.indexOf(" ");
  if (space < 0 || text.slice(0, space).toLowerCase() !== wanted) return null;
  return text.slice(space).trimStart();
}

/** Decodes `user:password` from Base64 (RFC 7617). If the bytes are not UTF-8, returns a text that never matches. */
function decodeBasic(value: string): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return basicSecret(decoder.decode(Buffer.from(value, "base64")));
  } catch {
    return "";
  }
}

function credentialsOf({ mode, headerName }: AuthConfig): string {
  if (mode === "basic") return "a user name and password";
  return mode === "bearer" ? "the bearer token" : `the token in the header ${headerName}`;
}

const challenges: Partial<Record<AuthMode, string>> = {
  basic: 'Basic realm="worker admin", charset="UTF-8"',
  bearer: "Bearer",
};

export function unauthorizedRefusal(
  auth: AuthConfig,
  label: string | null,
  message: string,
): Refusal {
  const challenge = challenges[auth.mode];
  return new Refusal(401, "unauthorized", message, {
    headers: challenge === undefined ? {} : { "www-authenticate": challenge },
    // The page builds its login form from these members.
    members: { auth: { mode: auth.mode, header_name: auth.headerName, label } },
  });
}
