// Declares the command that adds one job; implemented in queue/add/add-job.ts.
import type { Job } from "../../domain/job.ts";
import { rawJson } from "../../domain/payload.ts";
import { addJob } from "../../queue/add/add-job.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import {
  choice,
  json,
  list,
  maxAttempts,
  name,
  optional,
  priority,
  text,
  time,
} from "../declare/field.ts";
import { jobsMember } from "./acted.ts";

// The wire has dashes where the library and Graphile Worker have underscores.
const modes = {
  replace: "replace",
  "preserve-run-at": "preserve_run_at",
  "unsafe-dedupe": "unsafe_dedupe",
} as const;

export const addCommand = defineCommand({
  name: "add",
  aliases: [],
  summary: "Add a job",
  title: "Add a job",
  verb: "Add the job",
  consequence: "",
  weight: "light",
  danger: "safe",
  http: { path: "/api/jobs", action: null },
  positionals: ["identifier", "payload"],
  fields: {
    identifier: name(["Task identifier", "the task that runs the job"], 128, {
      optionAliases: ["task"],
    }),
    payload: optional(json(["Payload", "JSON, kept byte for byte"]), { default: "{}" }),
    queue: optional(text(["Queue", "jobs of one queue run one after the other"], 1, 128)),
    run_at: optional(time(["Run at", "not before this time"]), { default: "now" }),
    max_attempts: optional(maxAttempts, { default: "25" }),
    key: optional(text(["Job key", "at most one waiting job has this key"], 1, 512), {
      optionAliases: ["job-key"],
    }),
    job_key_mode: optional(
      choice(
        ["If the key exists", "what happens to a waiting job that has the key"],
        ["replace", "preserve-run-at", "unsafe-dedupe"],
      ),
      { default: "replace", option: "key-mode", optionAliases: ["job-key-mode"] },
    ),
    priority: optional(priority, { default: "0" }),
    flags: optional(
      list(
        ["Flags", "a worker that forbids one of these skips the job"],
        text(["Flag", "any word"], 1, 128),
        64,
      ),
      { option: "flag", optionAliases: ["flags"] },
    ),
    retry: optional(
      text(["Retry policy", "name of a policy that the workers have under retryPolicies"], 1, 100),
    ),
    deadline: optional(
      time(["Deadline", "after this time the job fails for good instead of running"]),
    ),
  },
  dialog: "add",
  examples: [
    `worker add send_email '{"to": "ada@example.com"}'`,
    "worker add report --queue reports --run-at 'in 2h'",
    "worker add sync --key sync:acme --payload-file payload.json",
    "worker add push_price --retry slow-api --deadline 'in 30m'",
  ],
  answer: { jobs: "ActedJob[]", outcome: "string" },
  problems: ({ job_key_mode: mode, key }) =>
    mode === undefined || (key !== undefined && key.trim() !== "")
      ? []
      : [{ path: "job_key_mode", message: "needs a key that is not blank" }],
  run: (db, input) =>
    addJob(db, {
      identifier: input.identifier,
      payload: input.payload === undefined ? undefined : rawJson(input.payload),
      spec: {
        queueName: input.queue,
        runAt: input.run_at === "now" ? undefined : input.run_at,
        maxAttempts: input.max_attempts,
        jobKey: input.key,
        jobKeyMode: input.job_key_mode === undefined ? undefined : modes[input.job_key_mode],
        priority: input.priority,
        flags: input.flags,
        retry: input.retry,
        deadline: input.deadline === "now" ? new Date() : input.deadline,
      },
    }),
  sentence: (job, input) => {
    const { identifier, key } = input;
    switch (outcomeOf(job, input.job_key_mode)) {
      case "added":
        return `Added job ${job.id} for ${identifier}`;
      case "updated":
        return `Updated job ${job.id} for ${identifier}, which had the key ${key}`;
      default:
        return `Nothing was added: job ${job.id} has the key ${key} and is unchanged`;
    }
  },
  jobIds: (job) => [job.id],
  members: (job, input) => ({
    ...jobsMember([job]),
    ...jsonOf({ outcome: outcomeOf(job, input.job_key_mode) }),
  }),
});

/** A new job's revision is 0; each call that finds its key increments it. */
function outcomeOf(job: Job, mode: keyof typeof modes | undefined): "added" | "updated" | "kept" {
  if (job.revision === 0) return "added";
  return mode === "unsafe-dedupe" ? "kept" : "updated";
}
