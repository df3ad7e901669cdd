// Endpoints, and the dispatcher that routes requests to them. Only this file turns errors into responses. The details
// of an unexpected error (500) are logged, not sent.
import { monotonic } from "../base/clock.ts";
import { codeOf, type ErrorCode, InputError, messageOf, WorkerError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { compressResponse } from "./compress.ts";
import { Refusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import { type HttpResponse, json } from "./response.ts";
import { createRouter, type Route } from "./router.ts";

export interface Endpoint extends Route {
  readonly run: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
}

/** Rules for every request that reaches the dispatcher. `endpoint` is null if no route matched. */
export interface Policy<E extends Endpoint> {
  /** Throws a Refusal when the request may not reach the endpoint. */
  admit(request: HttpRequest, endpoint: E | null): void | Promise<void>;
  /** Headers that override the headers of the response. */
  headers(endpoint: E | null, status: number): Readonly<Record<string, string>>;
  /** Called for each request, before its response is sent. */
  answered(exchange: Exchange<E>): void;
}

export interface Exchange<E extends Endpoint> {
  readonly request: HttpRequest;
  readonly endpoint: E | null;
  readonly status: number;
  /** The code of the error; null: no error. */
  readonly code: string | null;
  readonly durationMs: number;
}

/** Where failures are reported. */
export interface Report {
  readonly logger: Logger;
  /** Called for each 503 response. `fields`: the request and the error, for a log line. */
  readonly onDegraded?:
    | ((code: string, fields: Readonly<Record<string, unknown>>) => void)
    | undefined;
}

/** Returns the function that answers every request. */
export function createDispatcher<E extends Endpoint>(
  endpoints: readonly E[],
  policy: Policy<E>,
  report: Report,
): (request: HttpRequest) => Promise<HttpResponse> {
  const route = createRouter(endpoints);
  return async (request) => {
    const started = monotonic();
    const match = route(request.method, request.path);
    const endpoint = match.kind === "found" ? match.route : null;
    let response: HttpResponse;
    let code: string | null = null;
    try {
      await policy.admit(request, endpoint);
      if (match.kind === "unknown") throw new Refusal(404, "not_found", "not found");
      if (match.kind === "other_method") throw otherMethod(request.method, match.allow);
      const answer = await match.route.run({ ...request, params: match.params });
      response = await compressResponse(request, answer);
    } catch (error) {
      response = errorResponse(error, request, report);
      code = refusalOf(error).code;
    }
    const { status } = response;
    const headers = { ...response.headers, ...policy.headers(endpoint, status) };
    policy.answered({ request, endpoint, status, code, durationMs: monotonic() - started });
    return { ...response, headers: { ...headers, "x-request-id": request.id } };
  };
}

function otherMethod(method: string, allow: readonly string[]): Refusal {
  const allowed = allow.join(", ");
  return new Refusal(
    405,
    "method_not_allowed",
    `${method} is not allowed for this path; use ${allowed}`,
    {
      headers: { allow: allowed },
    },
  );
}

/** Returns the response for anything that was thrown, and logs the error if the status is 500 or 503. */
export function errorResponse(
  error: unknown,
  request: Pick<HttpRequest, "id" | "method" | "path">,
  { logger, onDegraded }: Report,
): HttpResponse {
  const { status, code, message, headers, members } = refusalOf(error);
  const fields = { request: request.id, method: request.method, path: request.path, code };
  if (status === 500)
    logger.error({ ...fields, ...insideOf(error) }, "a request failed with an internal error");
  else if (status === 503) {
    const all = { ...fields, ...insideOf(error) };
    logger.debug(all, "a request was answered with 503");
    onDegraded?.(code, all);
  }
  const text =
    status === 500 && !(error instanceof Refusal)
      ? `internal error; the log has the details under request ${request.id}`
      : shorten(message);
  return {
    ...json({ error: text, code, ...members }, status),
    headers: { ...json(null).headers, ...headers },
  };
}

const RETRY = { headers: { "retry-after": "2" } };

/** Error codes that are not listed become 500. */
const statuses: Partial<Record<ErrorCode, number>> = {
  bad_input: 400,
  query_too_wide: 400,
  not_found: 404,
  too_large: 413,
  database_unreachable: 503,
  database_timeout: 503,
  database_busy: 503,
  outcome_unknown: 503,
  busy: 503,
  read_only_server: 503,
  schema_missing: 503,
  schema_unsupported: 503,
  conflict: 409,
  extension_missing: 409,
  aborted: 503,
  timeout: 503,
};

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof InputError) {
    const problems = error.problems.slice(0, 20).map(({ path, message, ...where }) => ({
      field: shorten(path),
      message: shorten(message),
      ...where,
    }));
    return new Refusal(400, error.code, error.message, { members: { problems } });
  }
  if (error instanceof WorkerError) {
    const status = statuses[error.code] ?? 500;
    // A client must not automatically repeat an action that may already have been performed.
    const mayRetry = status === 503 && error.code !== "outcome_unknown";
    return new Refusal(status, error.code, error.message, mayRetry ? RETRY : {});
  }
  return new Refusal(500, "internal_error", messageOf(error));
}

function insideOf(error: unknown): object {
  const cause = error instanceof Error ? error.cause : undefined;
  return {
    error: messageOf(error),
    ...(cause === undefined ? {} : { inner: messageOf(cause), inner_code: codeOf(cause) }),
    ...(isExplained(error) || !(error instanceof Error) ? {} : { stack: error.stack }),
  };
}

const isExplained = (error: unknown) => error instanceof WorkerError || error instanceof Refusal;

/** Shortens a text that may quote the client's input. */
function shorten(text: string): string {
  return text.length <= 1_000 ? text : `${text.slice(0, 1_000)}…`;
}
