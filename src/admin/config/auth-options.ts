// Checks the options of the admin's login, the header in which a proxy names the user, and the token for /metrics.
// Configured secrets are returned only as digests.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import {
  type AuthConfig,
  authModes,
  basicSecret,
  CSRF_HEADER,
  isShortSecret,
} from "../access/auth-config.ts";
import type { Authenticate } from "../access/own-login.ts";
import { generateSecret, type Secret, secretOf } from "../access/secret.ts";

/**
 * The authentication of an admin. `basic`: a user name and a password. `bearer`: a token in the header
 * `authorization`. `header`: a token in a header of your own. `custom`: your application's own login. `none`: no
 * authentication; allowed only on a loopback address or a unix socket of mode 0600. A missing password or token is
 * generated, and is then in the `generatedSecret` of the server or handler. An empty password or token is invalid.
 */
export type AuthOptions =
  | {
      readonly mode: "basic";
      /** The user name. Default `admin`. */
      readonly username?: string | undefined;
      /** The password. Default: generated. */
      readonly password?: string | undefined;
    }
  | { readonly mode: "bearer"; readonly token?: string | undefined }
  | {
      readonly mode: "header";
      /** The name of the header. Default `x-worker-admin-token`. */
      readonly headerName?: string | undefined;
      readonly token?: string | undefined;
    }
  | {
      readonly mode: "custom";
      readonly authenticate: Authenticate;
      /**
       * A secret that several processes behind one address share. Each process then accepts the CSRF tokens and export
       * addresses that the other processes have issued. Default: none.
       */
      readonly secret?: string | undefined;
    }
  | { readonly mode: "none" };

const EMPTY = "must not be empty; leave it out for the default";

const username = v.pipe(
  v.string("must be a string"),
  v.check(
    (name) => /^[^:\p{Cc}]{1,255}$/u.test(name),
    "must have 1 to 255 characters, without colons and control characters",
  ),
);
const password = v.pipe(
  v.string("must be a string"),
  v.minLength(1, EMPTY),
  v.check((text) => !/\p{Cc}/u.test(text), "must not contain control characters"),
);
const token = v.pipe(
  v.string("must be a string"),
  v.minLength(1, EMPTY),
  v.check(
    (text) => /^[\x21-\x7e]*$/.test(text),
    "must consist of visible ASCII characters without spaces, to fit in a header",
  ),
);

// HTTP, browsers or this admin use these headers for other purposes.
const TAKEN =
  /^(?:host|connection|content-.*|cache-control|forwarded|range|referer|user-agent|via|x-forwarded-(?:for|host|port|proto)|transfer-encoding|te|trailer|upgrade|expect|date|origin|cookie|authorization|accept.*|if-.*|sec-.*|proxy-.*)$/;
const headerName = v.pipe(
  v.string("must be a string"),
  v.toLowerCase(),
  v.check(
    (name) => /^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/.test(name),
    "must be a header name of at most 64 characters",
  ),
  v.check(
    (name) => !TAKEN.test(name) && name !== CSRF_HEADER,
    "is a reserved header; choose another name",
  ),
);

const isFunction = (value: unknown) => typeof value === "function";

const schemas = {
  basic: strict({
    mode: v.literal("basic"),
    username: v.optional(username, "admin"),
    password: v.optional(password),
  }),
  bearer: strict({ mode: v.literal("bearer"), token: v.optional(token) }),
  header: strict({
    mode: v.literal("header"),
    headerName: v.optional(headerName, "x-worker-admin-token"),
    token: v.optional(token),
  }),
  custom: strict({
    mode: v.literal("custom"),
    authenticate: v.custom<Authenticate>(isFunction, "must be a function"),
    secret: v.optional(token),
  }),
  none: strict({ mode: v.literal("none") }),
};

/** Returns the checked configuration. Throws InputError with paths such as `auth.password`. */
export function resolveAuth(options: AuthOptions): AuthConfig {
  try {
    return Object.freeze(resolve(options));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.problems.map(({ path, message }) => ({
        path: path === "" ? "auth" : `auth.${path}`,
        message,
      })),
    );
  }
}

function resolve(options: AuthOptions): AuthConfig {
  const mode = options?.mode;
  if (!authModes.includes(mode)) {
    throw new InputError([{ path: "mode", message: `must be one of ${authModes.join(", ")}` }]);
  }
  const open = {
    mode,
    username: null,
    headerName: null,
    secret: null,
    authenticate: null,
    generatedSecret: null,
    hasShortSecret: false,
  };
  switch (mode) {
    case "none":
      validate(schemas.none, options);
      return open;
    case "basic": {
      const { username, password } = validate(schemas.basic, options);
      const { text, ...kind } = secretOrNew(password);
      return { ...open, ...kind, username, secret: secretOf(basicSecret(`${username}:${text}`)) };
    }
    case "bearer": {
      const { text, ...kind } = secretOrNew(validate(schemas.bearer, options).token);
      return { ...open, ...kind, secret: secretOf(text) };
    }
    case "header": {
      const { headerName, token } = validate(schemas.header, options);
      const { text, ...kind } = secretOrNew(token);
      return { ...open, ...kind, headerName, secret: secretOf(text) };
    }
    case "custom": {
      const { authenticate, secret: text } = validate(schemas.custom, options);
      if (text === undefined) return { ...open, authenticate };
      const hasShortSecret = isShortSecret(text);
      return { ...open, authenticate, secret: secretOf(text), hasShortSecret };
    }
    default:
      return mode satisfies never;
  }
}

/** Returns the checked header in which a proxy names the user. Throws InputError with the path `userHeader`. */
export function resolveUserHeader(name: string | null, auth: AuthConfig | undefined) {
  if (name === null) return null;
  const { userHeader } = validate(strict({ userHeader: headerName }), { userHeader: name });
  const refuse = (message: string) => {
    throw new InputError([{ path: "userHeader", message }]);
  };
  if (userHeader === auth?.headerName) refuse("is the header of the token");
  if (auth?.mode === "custom") refuse("is not for mode custom: authenticate() names the users");
  return userHeader;
}

function secretOrNew(given: string | undefined) {
  const generated = given === undefined ? generateSecret() : null;
  const text = given ?? generated ?? "";
  return { text, generatedSecret: generated, hasShortSecret: isShortSecret(text) };
}

/** Returns the checked token for /metrics. Throws InputError with the path `metricsToken`. */
export function resolveMetricsToken(text: string): { secret: Secret; isShort: boolean } {
  const { metricsToken } = validate(strict({ metricsToken: token }), { metricsToken: text });
  return { secret: secretOf(metricsToken), isShort: isShortSecret(metricsToken) };
}
