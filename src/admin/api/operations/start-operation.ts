// POST /api/operations takes two kinds of bodies. {q, action, changes, dry_run: true} previews an operation. It also
// fixes the operation's boundary, which limits the jobs that it may change (commands/operations/model/operation.ts).
// {rehearsal, rate, canary, limit} starts the previewed operation, which then runs in the background.
import { InputError } from "../../../base/errors.ts";
import { jsonMembers } from "../../../base/json-members.ts";
import { strict, validate } from "../../../base/validate.ts";
import {
  type CommandFields,
  checksOf,
  choice,
  flag,
  json,
  optional,
  text,
} from "../../../commands/declare/field.ts";
import {
  beginOperation,
  MAX_CANARY,
  MAX_LIMIT,
  MAX_RATE,
} from "../../../commands/operations/lifecycle.ts";
import {
  changeFields,
  missingFor,
  operationActions,
} from "../../../commands/operations/model/action.ts";
import { commandLineOf } from "../../../commands/operations/model/command-line.ts";
import { operationJson } from "../../../commands/operations/model/operation.ts";
import { rehearse } from "../../../commands/operations/rehearse/rehearse.ts";
import { rehearsalJson } from "../../../commands/operations/rehearse/report-json.ts";
import { extensionMissing } from "../../../database/schema/extensions/missing-tables.ts";
import { MAX_CHARACTERS } from "../../../domain/portable/query/limits.ts";
import type { HttpRequest } from "../../../http/request.ts";
import { type HttpResponse, jsonText } from "../../../http/response.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import { type JsonSchema, schemaOfField } from "../../wire/json-schema.ts";
import { fieldValue, readMembers } from "../../wire/wire.ts";
import { recordOperation } from "./record-operation.ts";
import { byOf, noteOperation, operationSchema, rehearsalSchema } from "./shapes.ts";
import { wholeNumber } from "./whole-number.ts";

const rehearseFields = {
  q: text(["Query", "the jobs, in the query language"], 1, MAX_CHARACTERS),
  action: choice(["Action", "the action on these jobs"], operationActions),
  changes: optional(json(["Changes", "the action's fields, such as priority"])),
  dry_run: flag(["Dry run", "must be true: this only previews the operation"]),
} satisfies CommandFields;

const beginFields = {
  rehearsal: text(["Rehearsal", "id from a dry run; valid once, for 15 minutes"], 1, 100),
  rate: optional(
    wholeNumber(
      [
        "Rate",
        "jobs a second; 0: without pauses; absent: the operation pauses half of the time, or more while workers fall behind",
      ],
      0,
      MAX_RATE,
    ),
  ),
  canary: optional(
    wholeNumber(
      [
        "Canary",
        "for retry and run-now: run this many jobs first, the others only if these jobs succeed",
      ],
      1,
      MAX_CANARY,
    ),
  ),
  limit: optional(
    wholeNumber(
      ["Limit", "the most jobs to change, lowest ids first; by default all that match"],
      1,
      MAX_LIMIT,
    ),
  ),
} satisfies CommandFields;

export const startOperation: Operation = {
  summary:
    "Previews an operation on all jobs that match a query (dry_run), or starts a previewed operation",
  body: {
    title: "StartOperation",
    oneOf: [bodyOf(rehearseFields, "Rehearse"), bodyOf(beginFields, "Begin")],
  },
  answer: { title: "StartOperationResult", anyOf: [rehearsalSchema, operationSchema] },
  run: async (admin, request) => {
    const members = await readMembers(request, admin.config.limits.bodyBytes);
    return members.has("rehearsal")
      ? begin(admin, request, members)
      : answerPreview(admin, request, members);
  },
};

type Members = ReadonlyMap<string, string>;

async function answerPreview(
  admin: Admin,
  request: HttpRequest,
  members: Members,
): Promise<HttpResponse> {
  const { q, action, changes, dry_run: isDry } = checkFields(rehearseFields, members);
  const problems = [
    ...(isDry ? [] : [{ path: "dry_run", message: "must be true: start with a dry run" }]),
    ...(q.trim() === "" ? [{ path: "q", message: EMPTY }] : []),
  ];
  if (problems.length > 0) throw new InputError(problems);
  request.notes["action"] = `rehearse ${action}`;
  const { operations } = admin;
  const requested = { query: q, action, changes: changesIn(changes ?? "null") };
  const { tools } = operations;
  const missing = (await operations.missing()) ?? (await missingFor(tools.reads, action));
  const report = await rehearse(
    { ...tools, store: missing === null ? tools.store : null },
    requested,
  );
  const { query, changes: checkedChanges } = report.rehearsal;
  const cli = commandLineOf(action, query, checkedChanges);
  return jsonText(rehearsalJson(report, missing, cli));
}

const EMPTY = "is empty, which would select every job; to select every job use id>0";

/** Returns the values of `changes` by name, in an object without a prototype. rehearse() refuses unknown names. */
function changesIn(json: string): object {
  if (json === "null") return {};
  if (!json.startsWith("{")) {
    throw new InputError([{ path: "changes", message: "must be an object" }]);
  }
  const fields = changeFields();
  const changes: Record<string, unknown> = Object.create(null);
  for (const [name, value] of jsonMembers(json)) {
    changes[name] = fieldValue(value, Object.hasOwn(fields, name) ? fields[name] : undefined);
  }
  return changes;
}

async function begin(admin: Admin, request: HttpRequest, members: Members): Promise<HttpResponse> {
  const { rehearsal, rate = null, canary = null, limit = null } = checkFields(beginFields, members);
  const { operations } = admin;
  const missing = await operations.missing();
  if (missing !== null) throw extensionMissing(missing);
  const origin = { by: byOf(request), source: "admin" } as const;
  const operation = await beginOperation(operations.tools.store, rehearsal, origin, {
    rate,
    canary,
    limit,
  });
  operations.run(operation);
  noteOperation(request, operation);
  await recordOperation(
    admin,
    request,
    operation,
    operation.action,
    `Started operation ${operation.id}`,
  );
  return jsonText(operationJson(operation), 202);
}

function checkFields<const F extends CommandFields>(fields: F, members: Members) {
  const body: Record<string, unknown> = Object.create(null);
  for (const [name, value] of members) {
    body[name] = fieldValue(value, Object.hasOwn(fields, name) ? fields[name] : undefined);
  }
  return validate(strict(checksOf(fields)), body);
}

function bodyOf(fields: CommandFields, title: string): JsonSchema {
  const entries = Object.entries(fields);
  return {
    title,
    type: "object",
    properties: Object.fromEntries(entries.map(([name, one]) => [name, schemaOfField(one)])),
    required: entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name),
    additionalProperties: false,
  };
}
