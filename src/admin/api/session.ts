// GET /api/session: the first request of the page. The only secret in the response is the CSRF token, and every client
// that may read the response may have that token.
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { VERSION } from "../../base/version.ts";
import { databasePlace } from "../../database/connection/database-place.ts";
import { json } from "../../http/response.ts";
import { type AuthMode, CSRF_HEADER } from "../access/auth-config.ts";
import type { Admin, Operation } from "../context/admin.ts";
import { record } from "../wire/json-schema.ts";

/** How long the response waits for a database that does not respond. */
const DATABASE_CHECK_MS = 1_000;

export const getSession: Operation = {
  summary: "The page's session: schema, mode, CSRF token, and what is wrong with the database",
  answer: record(
    {
      schema: "string",
      database: {
        type: ["string", "null"],
        description: "host/database of the connection, without user and password",
      },
      label: "string?",
      read_only: "boolean",
      read_only_server: "boolean",
      csrf_header: "string",
      csrf_token: "string",
      auth: record({
        mode: "string",
        username: "string?",
        header_name: "string?",
        generated_secret: "boolean",
      }),
      problem: {
        ...record({ error: "string", code: "string" }),
        type: ["object", "null"],
        description: "why the queue cannot be read now, such as schema_missing",
      },
      can_undo: {
        type: "boolean",
        description: "whether the schema has the tables that store changes of jobs for undo",
      },
      version: "string",
    },
    "Session",
  ),
  run: async (
    {
      config: { pool, auth, readOnly, schema, label },
      csrfToken,
      readiness,
      feed,
      operations,
      databases: { reads },
    },
    request,
  ) => {
    feed.prefetch();
    const { user, readOnly: isReadOnlyUser = false } = request.notes;
    const { problem, isReadOnlyServer } = await databaseNow(readiness, request.closing);
    return json({
      schema: schema.name,
      database: databasePlace(pool),
      label,
      read_only: readOnly || isReadOnlyUser === true || isReadOnlyServer,
      read_only_server: isReadOnlyServer,
      csrf_header: CSRF_HEADER,
      csrf_token: csrfToken,
      auth: {
        mode: auth.mode,
        // Null in mode none. Null also after a login with a token: `user` is then the name of the mode.
        username: isNamed(auth.mode, user) ? user : null,
        header_name: auth.headerName,
        generated_secret: auth.generatedSecret !== null,
      },
      problem,
      can_undo: problem === null && (await operations.store(reads).catch(() => null)) !== null,
      version: VERSION,
    });
  },
};

const isNamed = (mode: AuthMode, user: unknown) => mode !== "none" && user !== mode;

async function databaseNow(readiness: Admin["readiness"], closing: AbortSignal) {
  const late = new AbortController();
  const signal = AbortSignal.any([late.signal, closing]);
  const timeout = wait(DATABASE_CHECK_MS, signal).then(() => NO_ANSWER);
  const state = await Promise.race([readiness.check(), timeout]).finally(() => late.abort());
  const { problem, isReadOnlyServer } = state;
  if (problem === null) return { problem, isReadOnlyServer };
  const hasMessage = problem instanceof WorkerError && problem.code !== "database_error";
  const { message, code } = hasMessage ? problem : INTERNAL;
  return { problem: { error: message, code }, isReadOnlyServer };
}

const NO_ANSWER = {
  isReadOnlyServer: false,
  problem: new WorkerError("database_unreachable", "PostgreSQL has not answered yet"),
};

const INTERNAL = {
  message: "the database cannot be read now; the log has the details",
  code: "internal_error",
};
