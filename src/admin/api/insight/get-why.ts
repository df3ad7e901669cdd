// GET /api/jobs/{id}/why: why a job is in its condition.
import { InputError, WorkerError } from "../../../base/errors.ts";
import { conditions } from "../../../domain/condition.ts";
import { isJobId } from "../../../domain/job-ids.ts";
import { whyJson } from "../../../insight/json/why-json.ts";
import { explainJob } from "../../../insight/why/explain-job.ts";
import type { Operation } from "../../context/admin.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { listOf, orNull, record, value } from "../../wire/json-schema.ts";
import { fixSchema, linksSchema } from "./shapes.ts";

const answer = record(
  {
    id: "integer",
    condition: { type: "string", enum: conditions },
    sentence: "string",
    // When the job was locked, became due, last failed or was added, depending on its condition. Null if the job last
    // failed at an unknown time.
    since: "time?",
    causes: listOf(
      record({
        kind: "string",
        text: "string",
        detail: "string?",
        is_root: "boolean",
        // Whether the cause is a fault that needs a repair or a recovery.
        is_broken: "boolean",
        links: linksSchema,
        fix: orNull(fixSchema),
      }),
    ),
    ahead: orNull(value),
    of: orNull(value),
    next_attempts: listOf("time"),
    last_attempt_at: "time?",
    same_error: orNull(value),
    error_group: "string?",
    as_of: "time",
  },
  "Why",
);

export const getWhy: Operation = {
  summary:
    "Why a job is in its condition: the causes in order, each with its fix, if there is a fix; the last cause with is_root is the root",
  answer,
  run: async ({ databases, insight }, request) => {
    const id = request.params["id"];
    if (!isJobId(id)) {
      throw new InputError([{ path: "id", message: "must be a job id, a whole number" }]);
    }
    const why = await explainJob(databases.reads, id, insight);
    if (why === null) {
      throw new WorkerError("not_found", `there is no job ${id}; it may have been completed`);
    }
    return jsonAt(whyJson(why));
  },
};
