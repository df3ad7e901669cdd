// GET /api/export: all jobs that match a query. If an export fails, the server cuts the connection, so that even
// clients that ignore trailers notice the failure.
// POST /api/export/ticket: an address of GET /api/export/download, from which a browser downloads one export.
import { now } from "../../../base/clock.ts";
import { InputError, messageOf } from "../../../base/errors.ts";
import { strict, validate } from "../../../base/validate.ts";
import { checksOf, choice, optional, text } from "../../../commands/declare/field.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import { Refusal } from "../../../http/refusal.ts";
import { type HttpRequest, readJsonText } from "../../../http/request.ts";
import { json } from "../../../http/response.ts";
import { headIfFree, streamResponse } from "../../../http/stream.ts";
import { exportColumnNames } from "../../../insight/export/columns.ts";
import { boundaryText } from "../../../insight/export/export-cursor.ts";
import { exportJobs } from "../../../insight/export/export-jobs.ts";
import { type ExportRequest, exportRequest } from "../../../insight/export/export-request.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { MAX_TICKET_LENGTH, TICKET_MS } from "../../context/export-tickets.ts";
import { type JsonSchema, record, schemaOfField } from "../../wire/json-schema.ts";
import { inQuery, readQuery } from "../../wire/wire.ts";

const fields = {
  q: text(["Query", "jobs that match this query; empty: all"], 0, MAX_CHARACTERS),
  format: choice(["Format", "JSON Lines, or CSV with a line of names"], ["jsonl", "csv"]),
  columns: text(
    [
      "Columns",
      `columns, separated by commas: ${exportColumnNames.join(", ")}; empty: all but payload`,
    ],
    0,
    1_000,
  ),
  payload: choice(["Payload", "1: with the payload, if no columns are given"], ["0", "1"]),
  cursor: text(
    [
      "Cursor",
      "the last id received, followed by the text of the header x-export-boundary; the export continues after that id",
    ],
    0,
    80,
  ),
};

const query = {
  q: inQuery(fields.q),
  format: inQuery(fields.format, { default: "jsonl" }),
  columns: inQuery(fields.columns),
  payload: inQuery(fields.payload, { default: "0" }),
  cursor: inQuery(fields.cursor),
};

export const getExport: Operation = {
  summary:
    "All jobs that match, as JSON Lines or CSV; complete if the trailer x-export-complete follows",
  query,
  answer: "application/x-ndjson, text/csv",
  run: (admin, request) => {
    const { payload, ...given } = readQuery(request, query);
    const exportRequested = exportRequest({ ...given, withPayload: payload === "1" });
    return exportResponse(admin, request, exportRequested);
  },
};

const ticketQuery = {
  ticket: inQuery(text(["Ticket", "from POST /api/export/ticket"], 1, MAX_TICKET_LENGTH)),
};

export const downloadExport: Operation = {
  summary: "The export of a ticket: once, within a minute, without a login",
  query: ticketQuery,
  answer: "application/x-ndjson, text/csv",
  run: (admin, request) => {
    const { ticket = "" } = readQuery(request, ticketQuery);
    const found = admin.exportTickets.read(ticket);
    if (found === null) throw usedUp;
    request.notes["user"] = found.user;
    // Only a download that begins uses up the ticket.
    if (request.method === "HEAD") {
      return headIfFree(request, admin.downloads, headersOf(found.request));
    }
    return exportResponse(admin, request, found.request, async () => {
      if (!(await found.use(admin.databases.briefWrites))) throw usedUp;
    });
  },
};

const usedUp = new Refusal(
  403,
  "ticket",
  "this address was used or is older than a minute; request a new one",
);

const TOO_LONG = "is too long for an address; use /api/export?q= with a login instead";

const bodyFields = {
  // The query is required, so that a forgotten query does not export everything.
  q: fields.q,
  format: optional(fields.format),
  columns: optional(fields.columns),
  payload: optional(fields.payload),
  cursor: optional(fields.cursor),
};

export const createTicket: Operation = {
  summary: "Create an address that downloads one export once, within a minute, without a login",
  body: bodySchema(),
  answer: record({ path: "string", expires_in_ms: "integer" }, "ExportTicket"),
  run: async (admin, request) => {
    const given = validate(strict(checksOf(bodyFields)), await body(request, admin));
    const { q, format, columns, payload, cursor } = given;
    const exportRequested = exportRequest({
      q,
      format: format ?? undefined,
      columns: columns ?? undefined,
      cursor: cursor ?? undefined,
      withPayload: payload === "1",
    });
    const ticket = admin.exportTickets.create({
      request: exportRequested,
      user: request.notes["user"],
    });
    if (ticket.length > MAX_TICKET_LENGTH) throw new InputError([{ path: "q", message: TOO_LONG }]);
    return json({ path: `api/export/download?ticket=${ticket}`, expires_in_ms: TICKET_MS });
  },
};

async function body(request: HttpRequest, { config }: Admin): Promise<unknown> {
  try {
    return JSON.parse(await readJsonText(request, config.limits.bodyBytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InputError("the body is not JSON");
    throw error;
  }
}

function bodySchema(): JsonSchema {
  const properties = Object.entries(bodyFields).map(([name, field]) => [
    name,
    schemaOfField(field),
  ]);
  return {
    title: "ExportTicketRequest",
    type: "object",
    properties: Object.fromEntries(properties),
    required: ["q"],
    additionalProperties: false,
  };
}

const types = { jsonl: "application/x-ndjson; charset=utf-8", csv: "text/csv; charset=utf-8" };

const headersOf = ({ format, q }: ExportRequest) => ({
  "content-type": types[format],
  "content-disposition": `attachment; filename="${fileName(q, format)}"`,
});

const MAX_NAME_LENGTH = 60;

/** Returns a file name such as `jobs-failed-charge_card-2026-11-26.csv`. */
function fileName(q: string, format: string): string {
  const words = (q.match(/[\w.]+:?/g) ?? []).filter((word) => !word.endsWith(":"));
  const name = ["jobs", ...words].join("-").slice(0, MAX_NAME_LENGTH);
  return `${name}-${new Date(now()).toISOString().slice(0, 10)}.${format}`;
}

/** Limits the header x-export-unknown, because some clients and proxies accept at most 8 KB of headers. */
const MAX_NAMES_LENGTH = 2_000;

/** Returns the first names as a JSON list in ASCII. */
function namesInHeader(names: readonly string[]): string {
  const [first, ...others] = names.map((name) =>
    JSON.stringify(name).replace(/[\u007f-\uffff]/g, escaped),
  );
  let list = first ?? "";
  for (const text of others) {
    if (list.length + text.length > MAX_NAMES_LENGTH) break;
    list += `,${text}`;
  }
  return `[${list}]`;
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** `onBegin` is called just before the response begins. If `onBegin` rejects, the error becomes the response. */
function exportResponse(
  { databases, config, downloads }: Admin,
  request: HttpRequest,
  exportRequested: ExportRequest,
  onBegin: () => Promise<void> = async () => {},
) {
  return streamResponse(request, downloads, async () => {
    const { lists: steps, downloads: large } = databases;
    const begun = await exportJobs({ steps, large }, exportRequested);
    const { boundary, unknown } = begun;
    return {
      headers: {
        ...headersOf(exportRequested),
        "x-export-boundary": boundaryText(boundary),
        ...(unknown.length === 0 ? {} : { "x-export-unknown": namesInHeader(unknown) }),
      },
      pieces: begun.pieces,
      onBegin,
      trailers: () => {
        const { lines, unchecked } = begun.progress();
        return { "x-export-complete": String(lines), "x-export-unchecked": String(unchecked) };
      },
      onBroken: (error) => {
        const fields = {
          request: request.id,
          lines: begun.progress().lines,
          error: messageOf(error),
        };
        config.logger.warn(fields, "an export was interrupted");
      },
    };
  });
}
