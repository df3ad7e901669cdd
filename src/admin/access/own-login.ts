// Calls the application's login function (mode `custom`) for a request, and every minute for an open event stream.
import type { IncomingMessage } from "node:http";
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import type { HttpResponse } from "../../http/response.ts";
import { nameProblem } from "./user-name.ts";

/** A user of the admin, as returned by the application's own login. */
export interface AdminUser {
  /** The name in the audit trail, in operations and in the log: 1 to 128 printable characters. */
  readonly name: string;
  /** If true, the user's writes are refused with 403 `read_only`. Default false. */
  readonly readOnly?: boolean | undefined;
}

/**
 * Returns the user of a request; null if the request has no login. Called for requests that need a login, and every
 * minute for an open event stream, with the request that opened the stream. `signal` aborts when the client has left,
 * or after 5 s. If the function throws, takes more than 5 s or returns an invalid user, the response is 503; an open
 * event stream ends.
 */
export type Authenticate = (
  request: IncomingMessage,
  options: { readonly signal: AbortSignal },
) => AdminUser | null | Promise<AdminUser | null>;

/** A checked AdminUser. */
export interface CheckedUser {
  readonly name: string;
  readonly readOnly: boolean;
}

export interface OwnLogin {
  /**
   * Returns the user; null if the request has no login. Throws Refusal 503 if the login function throws, takes too long
   * or returns an invalid user, and WorkerError `aborted` if the client has left.
   */
  userOf(request: HttpRequest): Promise<CheckedUser | null>;
  /** Opens an event stream that ends when the user is no longer logged in or a check fails. */
  whileLoggedIn(request: HttpRequest, open: OpenStream): HttpResponse;
}

type OpenStream = (request: HttpRequest) => HttpResponse;

export interface LoginTimes {
  /** The time between two checks of the user of an open stream, in milliseconds. Default 60,000. */
  readonly recheckMs: number;
  /** How long a check may take, in milliseconds. Default 5,000. */
  readonly timeoutMs: number;
}

interface OwnLoginOptions extends Partial<LoginTimes> {
  /** Logs the error of a check of an open stream. */
  readonly onFailure: (error: unknown, request: HttpRequest) => void;
}

const RECHECK_MS = 60_000;
const TIMEOUT_MS = 5_000;

/** Returns the application's login; null if the application has none. */
export function createOwnLogin(
  authenticate: Authenticate | null,
  { recheckMs = RECHECK_MS, timeoutMs = TIMEOUT_MS, onFailure }: OwnLoginOptions,
): OwnLogin | null {
  if (authenticate === null) return null;

  const userOf = async (request: HttpRequest) => {
    const answer = await inTime(request, timeoutMs, (signal) =>
      authenticate(request.incoming, { signal }),
    );
    return answer === null ? null : checkUser(answer);
  };

  const isLoggedIn = async (request: HttpRequest) => {
    try {
      return (await userOf(request)) !== null;
    } catch (error) {
      onFailure(error, request);
      return false;
    }
  };

  return {
    userOf,
    whileLoggedIn(request, open) {
      const ended = new AbortController();
      const closing = AbortSignal.any([request.closing, ended.signal]);
      const response = open({ ...request, closing });
      const { body } = response;
      if (typeof body !== "function") return response;
      const check = async (closed: AbortSignal) => {
        while (await wait(recheckMs, closed)) {
          if (!(await isLoggedIn(request))) return ended.abort();
        }
      };
      return {
        ...response,
        body: (connection) => {
          const closed = new AbortController();
          connection.once("close", () => closed.abort());
          body(connection);
          void check(closed.signal);
        },
      };
    },
  };
}

/** Calls `ask`. Throws as soon as `timeoutMs` has passed or the client has left. */
async function inTime<T>(
  { left }: HttpRequest,
  timeoutMs: number,
  ask: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const settled = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: Error) => {
    reject(reason);
    over.abort(reason);
  };
  const leave = () => end(new WorkerError("aborted", "the client has left"));
  if (left.aborted) leave();
  else left.addEventListener("abort", leave, { once: true });
  void wait(timeoutMs, settled.signal).then((isLate) => isLate && end(tooSlow(timeoutMs)));
  try {
    return await Promise.race([ended, answerOf(ask, over.signal)]);
  } finally {
    left.removeEventListener("abort", leave);
    settled.abort();
  }
}

async function answerOf<T>(
  ask: (signal: AbortSignal) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await ask(signal);
  } catch (error) {
    throw unavailable("login_failed", "the application's login has failed", error);
  }
}

function checkUser(answer: unknown): CheckedUser {
  try {
    const { name, readOnly = false } = Object(answer) as Record<string, unknown>;
    const problem = nameProblem(name);
    if (problem !== null) throw new Error(`its name ${problem}`);
    if (typeof readOnly !== "boolean") throw new Error("its readOnly is not true or false");
    return { name: name as string, readOnly };
  } catch (error) {
    throw unavailable("login_invalid", INVALID, error);
  }
}

const INVALID =
  "the application's login is wrong: authenticate() must return null or { name, readOnly? } with a name of 1 to 128 printable characters";

function tooSlow(timeoutMs: number): Refusal {
  const message = `the application's login took more than ${timeoutMs / 1_000} s`;
  return unavailable("login_timeout", message);
}

/** `cause` is only logged. */
function unavailable(code: string, message: string, cause?: unknown): Refusal {
  const refusal = new Refusal(503, code, message, { headers: { "retry-after": "2" } });
  return cause === undefined ? refusal : Object.assign(refusal, { cause });
}
