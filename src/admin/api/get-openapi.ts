// GET /api/openapi.json: the OpenAPI document, made from the routes and the declarations by which requests are checked.

import { VERSION } from "../../base/version.ts";
import { AS_OF } from "../../http/repeat/conditional.ts";
import { json } from "../../http/response.ts";
import { type AuthConfig, CSRF_HEADER } from "../access/auth-config.ts";
import type { AdminServerConfig } from "../config/config.ts";
import type { AdminRoute, Operation } from "../context/admin.ts";
import { isByBrowser, needsLogin } from "../context/policy.ts";
import { type JsonSchema, listOf, record } from "../wire/json-schema.ts";

export const getOpenapi: Operation = {
  summary: "This document",
  answer: { type: "object" },
  run: ({ routes, config }) => json(openapi(routes, config)),
};

const problem = record({ field: "string", message: "string" });

const errorSchema = {
  ...record({ error: "string", code: "string" }, "Error"),
  properties: {
    error: { type: "string", description: "a sentence for people: what is wrong, and what to do" },
    code: {
      type: "string",
      description: "for programs; it stays the same when the sentence changes",
    },
    problems: listOf({
      ...problem,
      properties: {
        ...(problem["properties"] as object),
        at: {
          type: "integer",
          description: "where the problem begins in the field's text, in UTF-16 units",
        },
        end: { type: "integer", description: "where the problem ends, exclusive" },
        suggestion: { type: ["string", "null"], description: "what to write in its place" },
      },
    }),
  },
};

const errors: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ["BadInput", "A field is unknown, missing, or out of range; nothing was changed"],
  401: ["Unauthorized", "No credentials, or wrong credentials"],
  403: ["Forbidden", "code is read_only, csrf, host, proxy or ticket"],
  404: ["NotFound", "Not found"],
  409: [
    "Conflict",
    "The present state does not allow this, or code is extension_missing; nothing was changed",
  ],
  413: ["TooLarge", "The body, or the answer, exceeds its limit"],
  415: ["NotJson", "The body is not JSON in UTF-8"],
  429: [
    "TooManyLogins",
    "Too many logins at once: these credentials were not checked; see Retry-After",
  ],
  500: ["Internal", "Internal error; the log has the details under X-Request-Id"],
  503: [
    "Unavailable",
    "The database is unreachable or busy, the schema is missing, or the application's login has failed; see Retry-After, if present",
  ],
};

/** Requests whose answer is 404 if a thing that the query or body names does not exist. */
const MAY_MISS = new Set([
  "GET /api/queue",
  "GET /api/cron-entry",
  "GET /api/schedules",
  "POST /api/operations",
  "POST /api/schedules",
  "POST /api/limits",
]);

/** Requests whose answer may be 409, in addition to writes to /api/operations. */
const MAY_CONFLICT = new Set([
  "POST /api/jobs",
  "POST /api/jobs/action",
  "POST /api/pauses",
  "POST /api/schedules",
  "POST /api/limits",
  "GET /api/limits/{name}",
  "GET /api/schedules",
  "GET /api/operations/{id}/results",
]);

/** Requests without a body whose answer may be 413. */
const MAY_EXCEED = new Set(["GET /api/jobs/{id}"]);

/**
 * The success statuses of requests that can start, resume or undo an operation (202). Other requests have only the
 * success status 200.
 */
const SUCCESSES: Readonly<Record<string, readonly number[]>> = {
  "POST /api/operations": [200, 202],
  "POST /api/operations/{id}/resume": [202],
  "POST /api/operations/{id}/undo": [202],
};

const asOf = {
  description:
    "the time of the state that the answer shows; for a 304, the time of the read that found the state unchanged",
  schema: { type: "string", format: "date-time" },
};
const etag = {
  description:
    "for If-None-Match; answers that differ only in took_ms or, except in /api/overview and /api/workers (also of one worker), in as_of have the same ETag",
  schema: { type: "string" },
};

type Schemas = Record<string, JsonSchema>;

export function openapi(
  routes: readonly AdminRoute[],
  { basePath, auth }: Pick<AdminServerConfig, "basePath" | "auth">,
): JsonSchema {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(route, auth, schemas);
    paths[route.path] = path;
  }
  const content = contentOf(byReference(errorSchema, schemas));
  const retry = {
    headers: { "retry-after": { description: "seconds", schema: { type: "integer" } } },
  };
  const responses = Object.values(errors).map(([name, description]) => [
    name,
    { description, ...(description.includes("Retry-After") ? retry : {}), content },
  ]);
  const login = securityScheme(auth);
  return {
    openapi: "3.1.0",
    info: { title: "worker admin", version: VERSION },
    servers: [{ url: basePath }],
    paths,
    components: {
      schemas,
      responses: {
        Same: {
          description: "Unchanged since the answer with the ETag in If-None-Match",
          headers: { [AS_OF]: asOf, etag },
        },
        ...Object.fromEntries(responses),
      },
      securitySchemes: login === null ? {} : { login },
    },
  };
}

function operationOf(route: AdminRoute, auth: AuthConfig, schemas: Schemas) {
  const { access, operation, path, method } = route;
  const { summary, answer, body } = operation;
  const isTagged = access === "read" && typeof answer !== "string";
  const content =
    typeof answer === "string"
      ? Object.fromEntries(answer.split(", ").map((type) => [type, {}]))
      : contentOf(byReference(answer, schemas));
  const failures = errorStatuses(route, auth).map((status) => [
    status,
    { $ref: `#/components/responses/${errors[status]?.[0]}` },
  ]);
  const success = {
    description: summary,
    ...(isTagged ? { headers: { [AS_OF]: asOf, etag } } : {}),
    content,
  };
  const successes = SUCCESSES[`${method} ${path}`] ?? [200];
  const requestBody =
    body === undefined
      ? {}
      : { requestBody: { required: true, content: contentOf(byReference(body, schemas)) } };
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w|$)/g, (_, c) => c.toUpperCase())}`,
    summary,
    "x-access": access,
    security: requiresLogin(route, auth) ? [{ login: [] }] : [],
    parameters: parametersOf(path, access === "write", operation),
    ...requestBody,
    responses: {
      ...Object.fromEntries(
        successes.map((status) => [status, { ...success, ...ofStatus(status) }]),
      ),
      ...(isTagged ? { 304: { $ref: "#/components/responses/Same" } } : {}),
      ...Object.fromEntries(failures),
    },
  };
}

const ofStatus = (status: number) =>
  status === 202 ? { description: "the operation runs in the background" } : {};

function contentOf(schema: JsonSchema) {
  return { "application/json": { schema } };
}

/**
 * Moves `schema` and its parts, if they have titles, to `schemas`. Returns the schema with references in their place.
 */
function byReference(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const parts = Object.entries(schema).map(([key, value]) => [key, byReferenceIn(value, schemas)]);
  const whole: JsonSchema = Object.fromEntries(parts);
  const title = schema["title"];
  if (typeof title !== "string") return whole;
  const previous = schemas[title];
  if (previous !== undefined && JSON.stringify(previous) !== JSON.stringify(whole)) {
    throw new Error(`two schemas are called ${title}`);
  }
  schemas[title] = whole;
  return { $ref: `#/components/schemas/${title}` };
}

function byReferenceIn(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map((item) => byReferenceIn(item, schemas));
  return typeof value === "object" && value !== null
    ? byReference(value as JsonSchema, schemas)
    : value;
}

function errorStatuses(route: AdminRoute, auth: AuthConfig): number[] {
  const { access, method, path, operation } = route;
  const request = `${method} ${path}`;
  const hasInput = operation.query !== undefined || operation.body !== undefined;
  const isOpen = access === "open";
  return Object.keys(errors)
    .map(Number)
    .filter((status) => {
      if (status === 400) return hasInput || path.includes("{");
      if (status === 401 || status === 429) return requiresLogin(route, auth);
      if (status === 404) return path.includes("{") || MAY_MISS.has(request);
      if (status === 409)
        return (
          MAY_CONFLICT.has(request) || (path.startsWith("/api/operations") && access === "write")
        );
      if (status === 413 && MAY_EXCEED.has(request)) return true;
      if (status === 413 || status === 415) return operation.body !== undefined;
      return status !== 403 || !isOpen || auth.mode === "none";
    });
}

const requiresLogin = ({ access }: AdminRoute, { mode }: AuthConfig) =>
  mode !== "none" && needsLogin(access, isByBrowser(mode));

const OWN = "the application's own login; it may use a header other than Cookie";

function securityScheme({ mode, headerName }: AuthConfig): JsonSchema | null {
  if (mode === "none") return null;
  if (mode === "custom") return { type: "apiKey", in: "header", name: "cookie", description: OWN };
  if (mode === "header") return { type: "apiKey", in: "header", name: headerName };
  return { type: "http", scheme: mode };
}

function parametersOf(path: string, isWrite: boolean, { query = {} }: Operation) {
  const string = { type: "string" };
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: string,
    })),
    ...Object.entries(query).map(([name, { doc }]) => ({
      name,
      in: "query",
      required: false,
      schema: doc,
    })),
    ...(isWrite ? [{ name: CSRF_HEADER, in: "header", required: true, schema: string }] : []),
  ];
}
