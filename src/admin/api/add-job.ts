// POST /api/jobs: adds one job, its payload byte for byte.
import { InputError } from "../../base/errors.ts";
import { rawJson } from "../../domain/payload.ts";
import { addJob } from "../../queue/add-job.ts";
import type { Operation } from "../admin.ts";
import { jobActionResult } from "../answers.ts";
import { jobActionAnswer } from "../job-action-answer.ts";
import {
  exactJson,
  listOf,
  maxAttempts,
  notBlank,
  oneOf,
  optional,
  priority,
  readInput,
  text,
  time,
} from "../wire.ts";

const modes = {
  replace: "replace",
  "preserve-run-at": "preserve_run_at",
  "unsafe-dedupe": "unsafe_dedupe",
} as const;

const body = {
  identifier: notBlank(128),
  payload: optional(exactJson),
  queue: optional(text(1, 128)),
  run_at: optional(time),
  max_attempts: optional(maxAttempts),
  key: optional(text(1, 512)),
  job_key_mode: optional(oneOf(["replace", "preserve-run-at", "unsafe-dedupe"])),
  priority: optional(priority),
  flags: optional(listOf(text(1, 128), 64)),
};

export const addOneJob: Operation = {
  summary: "Adds a job",
  body,
  answer: jobActionResult,
  run: async ({ databases, config }, request) => {
    const input = await readInput(request, body, config.bodyLimit);
    const { job_key_mode: mode, key, identifier } = input;
    if (mode !== undefined && (key === undefined || key.trim() === "")) {
      throw new InputError([{ path: "job_key_mode", message: "needs a key that is not blank" }]);
    }
    const job = await addJob(databases.writes, {
      identifier,
      payload: input.payload === undefined ? undefined : rawJson(input.payload),
      spec: {
        queueName: input.queue,
        runAt: input.run_at,
        maxAttempts: input.max_attempts,
        jobKey: key,
        jobKeyMode: mode === undefined ? undefined : modes[mode],
        priority: input.priority,
        flags: input.flags,
      },
    });
    Object.assign(request.notes, { task: identifier, job: job.id });
    return jobActionAnswer(`Added job ${job.id} for ${identifier}`, [job]);
  },
};
