// GET /api/session: what the page must know before anything else. No secret is in it; the CSRF
// token is for those who may read this answer.
import { VERSION } from "../../base/version.ts";
import { json } from "../../http/response.ts";
import { CSRF_HEADER } from "../access/csrf.ts";
import type { Operation } from "../context/admin.ts";
import { record } from "../wire/json-schema.ts";

export const getSession: Operation = {
  summary: "What the page must know: schema, mode, CSRF token",
  answer: record(
    {
      schema: "string",
      read_only: "boolean",
      csrf_header: "string",
      csrf_token: "string",
      auth: record({
        mode: "string",
        username: "string?",
        header_name: "string?",
        generated_secret: "boolean",
      }),
      version: "string",
    },
    "Session",
  ),
  run: ({ config: { auth, readOnly, schema }, csrfToken }) =>
    json({
      schema: schema.name,
      read_only: readOnly,
      csrf_header: CSRF_HEADER,
      csrf_token: csrfToken,
      auth: {
        mode: auth.mode,
        username: auth.username,
        header_name: auth.headerName,
        generated_secret: auth.generatedSecret !== null,
      },
      version: VERSION,
    }),
};
