// POST /api/jobs/action: completes, fails, or reschedules jobs by id. Jobs that are locked or gone
// are left alone; the message says how many.
import { InputError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { completeJobs } from "../../queue/complete-jobs.ts";
import { permanentlyFailJobs } from "../../queue/permanently-fail-jobs.ts";
import { rescheduleJobs } from "../../queue/reschedule-jobs.ts";
import type { Operation } from "../admin.ts";
import { jobActionResult } from "../answers.ts";
import { jobActionAnswer } from "../job-action-answer.ts";
import {
  attempts,
  type Input,
  jobIds,
  maxAttempts,
  oneOf,
  optional,
  priority,
  readInput,
  text,
  time,
} from "../wire.ts";

const body = {
  action: oneOf(["complete", "fail", "run-now", "reschedule"]),
  ids: jobIds,
  reason: optional(text(0, 10_000)),
  run_at: optional(time),
  priority: optional(priority),
  attempts: optional(attempts),
  max_attempts: optional(maxAttempts),
};

const DEFAULT_REASON = "Marked failed from the worker admin UI";

export const actOnJobs: Operation = {
  summary: "Completes, fails, runs now or reschedules jobs",
  body,
  answer: jobActionResult,
  run: async ({ databases, config }, request) => {
    const input = await readInput(request, body, config.bodyLimit);
    const ids = [...new Set(input.ids)];
    Object.assign(request.notes, { action: input.action, ids: ids.length });
    const { verb, jobs } = await act(databases.writes, ids, input);
    request.notes["changed"] = jobs.length;
    return jobActionAnswer(outcome(verb, ids.length, jobs.length), jobs);
  },
};

async function act(
  db: Database,
  ids: readonly string[],
  input: Input<typeof body>,
): Promise<{ verb: string; jobs: Job[] }> {
  const { run_at: runAt, priority, attempts, max_attempts: maxAttempts } = input;
  switch (input.action) {
    case "complete":
      return { verb: "Completed", jobs: await completeJobs(db, ids) };
    case "fail": {
      const reason = input.reason?.trim() ? input.reason : DEFAULT_REASON;
      return { verb: "Failed", jobs: await permanentlyFailJobs(db, ids, reason) };
    }
    case "run-now": {
      const changes = { runAt: "now", priority, attempts, maxAttempts };
      return { verb: "Rescheduled to run now", jobs: await rescheduleJobs(db, ids, changes) };
    }
    case "reschedule": {
      const changes = { runAt, priority, attempts, maxAttempts };
      if (Object.values(changes).every((change) => change === undefined)) {
        throw new InputError(
          "reschedule needs at least one of run_at, priority, attempts and max_attempts",
        );
      }
      return { verb: "Rescheduled", jobs: await rescheduleJobs(db, ids, changes) };
    }
    default:
      return input.action satisfies never;
  }
}

/** `Completed 2 of 3 jobs; 1 was locked or gone` */
function outcome(verb: string, asked: number, done: number): string {
  const left = asked - done;
  const rest = left === 0 ? "" : `; ${left} ${left === 1 ? "was" : "were"} locked or gone`;
  return `${verb}: ${done} of ${asked} ${asked === 1 ? "job" : "jobs"}${rest}`.replace(
    /^(Completed|Failed|Rescheduled):/,
    "$1",
  );
}
