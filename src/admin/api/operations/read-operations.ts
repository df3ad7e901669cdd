// GET /api/operations, /api/operations/{id}, /api/operations/{id}/results and /api/operations/{id}/jobs.
import { InputError, WorkerError } from "../../../base/errors.ts";
import { choice, text } from "../../../commands/declare/field.ts";
import { existingOperation } from "../../../commands/operations/lifecycle.ts";
import { isOperationAction } from "../../../commands/operations/model/action.ts";
import {
  type JobOperation,
  objectText,
  operationJson,
} from "../../../commands/operations/model/operation.ts";
import {
  type OperationStore,
  outcomes,
  type ReceiptJob,
} from "../../../commands/operations/model/operation-store.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import { jsonText } from "../../../http/response.ts";
import { PAGE_BYTES } from "../../../insight/expressions/large-values.ts";
import type { Operation } from "../../context/admin.ts";
import { memoryFor } from "../../context/answer-bytes.ts";
import { listOf, record } from "../../wire/json-schema.ts";
import { inQuery, pageSizeInQuery, readQuery } from "../../wire/wire.ts";
import { operationIdIn, operationSchema } from "./shapes.ts";

const MAX_OPERATIONS = 200;
const MAX_IDS = 1_000;

const cursor = inQuery(
  text(["Cursor", "next_cursor of the previous page; empty: the first page"], 0, 20),
);

/** Returns the first texts: as many as fit into PAGE_BYTES characters together. The first text is always included. */
export function fitToPage(texts: readonly string[]): readonly string[] {
  let length = 0;
  const end = texts.findIndex((text, at) => {
    length += text.length;
    return length > PAGE_BYTES && at > 0;
  });
  return end === -1 ? texts : texts.slice(0, end);
}

/** Returns the id in a cursor; null if the cursor is missing or empty. Throws InputError if the cursor is invalid. */
export function cursorIn(given: string | undefined): string | null {
  if (given === undefined || given === "") return null;
  if (isJobId(given)) return given;
  throw new InputError([{ path: "cursor", message: "must be next_cursor of the previous page" }]);
}

const listQuery = {
  limit: pageSizeInQuery(
    "operations on a page, 50 by default; larger numbers are reduced to the maximum",
    MAX_OPERATIONS,
  ),
  cursor,
};

export const listOperations: Operation = {
  summary: "Operations, newest first",
  query: listQuery,
  reserves: () => memoryFor(PAGE_BYTES),
  answer: record(
    { operations: listOf(operationSchema), next_cursor: "string?", resumable: "boolean" },
    "OperationList",
  ),
  run: async ({ operations, databases: { reads } }, request) => {
    const { limit = 50, cursor: given } = readQuery(request, listQuery);
    const store = await operations.store(reads);
    const { operations: found = [], hasMore = false } =
      (await store?.list(limit, cursorIn(given))) ?? {};
    const texts = fitToPage(found.map(operationJson));
    const isWhole = texts.length === found.length && !hasMore;
    return jsonText(
      objectText({
        operations: `[${texts.join(",")}]`,
        next_cursor: JSON.stringify(isWhole ? null : (found[texts.length - 1]?.id ?? null)),
        resumable: String(store !== null),
      }),
    );
  },
};

export const getOperation: Operation = {
  summary: "One operation: its progress, or its receipt",
  answer: operationSchema,
  run: async ({ operations, databases: { reads } }, request) =>
    jsonText(
      operationJson(await existingOperation(await operations.store(reads), operationIdIn(request))),
    ),
};

export const getOperationResults: Operation = {
  summary:
    "The present state of the jobs that an operation changed: finished (deleted), failed again, running, waiting, or changed since; and the number of jobs that an undo would restore. Only the first 20,000 jobs by id are counted; scanned is the number of counted jobs",
  answer: record(
    {
      scanned: "integer",
      finished: "integer",
      failed_again: "integer",
      running: "integer",
      waiting: "integer",
      changed: "integer",
      restorable: "integer",
      // The error groups of the jobs that failed again. The groups with the most jobs are first.
      errors: listOf(record({ label: "string", count: "integer" })),
    },
    "OperationResults",
  ),
  run: async ({ operations, databases: { reads } }, request) => {
    const store = await operations.store(reads);
    const operation = await existingOperation(store, operationIdIn(request));
    const { scanned, failedAgain, ...rest } = await resultsIn(store, operation);
    return jsonText(JSON.stringify({ scanned, failed_again: failedAgain, ...rest }));
  },
};

async function resultsIn(store: OperationStore | null, operation: JobOperation) {
  if (store === null) throw new Error("an operation was found without a store");
  if (!isOperationAction(operation.action)) {
    const message = `the action of operation ${operation.id} is of another version`;
    throw new WorkerError("conflict", message);
  }
  return store.results(operation);
}

const jobsQuery = {
  outcome: inQuery(choice(["Outcome", "what the operation did with the jobs"], outcomes), {
    default: "done",
  }),
  limit: pageSizeInQuery(
    "ids on a page, 100 by default; larger numbers are reduced to the maximum",
    MAX_IDS,
  ),
  cursor,
};

export const listOperationJobs: Operation = {
  summary:
    "Ids of an operation's jobs with one outcome: done; failed_again (done, and failed since); locked, changed or gone (skipped because the job was locked, changed or deleted); or an outcome of the undo",
  query: jobsQuery,
  answer: record(
    {
      outcome: "string",
      ids: "integer[]",
      // The jobs of `ids`, with the present task and the first line of the present error. For a job that no longer
      // exists, these are the task and the error that the operation has stored.
      jobs: listOf(record({ id: "integer", task_identifier: "string?", error_line: "string?" })),
      next_cursor: "string?",
    },
    "OperationJobs",
  ),
  run: async ({ operations, databases: { reads } }, request) => {
    const { outcome = "done", limit = 100, cursor: given } = readQuery(request, jobsQuery);
    const store = await operations.store(reads);
    const { id } = await existingOperation(store, operationIdIn(request));
    const receipt = await store?.receipt(id, outcome, cursorIn(given) ?? "0", limit);
    const { jobs, nextCursor } = receipt ?? { jobs: [], nextCursor: null };
    return jsonText(
      objectText({
        outcome: JSON.stringify(outcome),
        ids: `[${jobs.map((job) => job.id).join(",")}]`,
        jobs: `[${jobs.map(jobJson).join(",")}]`,
        next_cursor: JSON.stringify(nextCursor),
      }),
    );
  },
};

const jobJson = ({ id, taskIdentifier, errorLine }: ReceiptJob): string =>
  objectText({
    id,
    task_identifier: JSON.stringify(taskIdentifier),
    error_line: JSON.stringify(errorLine),
  });
