// Declares the command that adds one job. queue/add/add-job.ts implements it.
import type { Job } from "../../domain/job.ts";
import type { AnyJob } from "../../domain/job-spec.ts";
import type { ThrottledAdd } from "../../domain/limits/throttled-job.ts";
import { rawJson } from "../../domain/payload.ts";
import { momentText } from "../../domain/words.ts";
import { addAnyJob } from "../../queue/add/add-job.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import {
  choice,
  type Input,
  json,
  list,
  maxAttempts,
  name,
  optional,
  priority,
  text,
  time,
} from "../declare/field.ts";
import { jobsMember } from "./define-job-action.ts";
import { keyFields, keyOptions, keyProblems } from "./key-fields.ts";

// The names of the modes have dashes in HTTP and in the shell, and underscores in the library and in Graphile Worker.
const modes = {
  replace: "replace",
  "preserve-run-at": "preserve_run_at",
  "unsafe-dedupe": "unsafe_dedupe",
} as const;

const fields = {
  identifier: name(["Task identifier", "the task that runs the job"], 128, {
    optionAliases: ["task"],
  }),
  payload: optional(json(["Payload", "JSON, kept byte for byte"]), { default: "{}" }),
  queue: optional(text(["Queue", "jobs of one queue run one after the other"], 1, 128)),
  run_at: optional(time(["Run at", "not before this time"]), { default: "now" }),
  max_attempts: optional(maxAttempts, { default: "25" }),
  key: optional(text(["Job key", "at most one job has this key"], 1, 512), {
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
      ["Flags", "workers that forbid one of the flags skip the job"],
      text(["Flag", "any word"], 1, 128),
      64,
    ),
    { option: "flag", optionAliases: ["flags"] },
  ),
  retry: optional(
    text(["Retry policy", "name of a policy in the workers' option retryPolicies"], 1, 100),
  ),
  deadline: optional(
    time(["Deadline", "after this time the job fails for good instead of running"]),
  ),
  ...keyFields,
};

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
  fields,
  dialog: "add",
  examples: [
    `worker add send_email '{"to": "ada@example.com"}'`,
    "worker add report --queue reports --run-at 'in 2h'",
    "worker add sync --key sync:acme --payload-file payload.json",
    "worker add push_price --retry slow-api --deadline 'in 30m'",
    `worker add sync '{"shop": 7}' --unique args.shop --unique-while unfinished`,
    `worker add digest '{"user": 7}' --throttle 1h --throttle-by args.user`,
  ],
  answer: {
    jobs: "ChangedJob[]",
    outcome: "string",
    is_duplicate: "boolean",
    is_throttled: "boolean",
    until: "time?",
  },
  problems: (input) => {
    const { job_key_mode: mode, key } = input;
    const lacksKey = mode !== undefined && (key === undefined || key.trim() === "");
    const isUnique = input.unique_by !== undefined;
    return lacksKey && !isUnique
      ? [{ path: "job_key_mode", message: "needs a key that is not blank" }]
      : keyProblems(jobOf(input));
  },
  run: async (db, input): Promise<AddResult> => {
    const isNow = input.deadline === "now";
    const deadline = isNow ? new Date(await databaseTime(db)).toISOString() : input.deadline;
    const added = await addAnyJob(db, jobOf({ ...input, deadline }));
    return "isThrottled" in added ? added : { isThrottled: false, until: null, job: added };
  },
  sentence: ({ job, until }, input) => {
    const { identifier, unique_by: by } = input;
    if (job === null) {
      return `Dropped: an equal job for task ${identifier} was added within the period; the next can be added at ${momentText(until.getTime())}`;
    }
    switch (outcomeOf(job, input)) {
      case "added":
        return `Added job ${job.id} for task ${identifier}`;
      case "updated":
        return by === undefined
          ? `Updated job ${job.id} for task ${identifier}, which had the key ${job.key}`
          : `Updated job ${job.id} for task ${identifier}, which was already there`;
      default:
        return by === undefined
          ? `Nothing was added: job ${job.id} has the key ${job.key} and is unchanged`
          : `Already there: job ${job.id} for task ${identifier} is the same, and is unchanged`;
    }
  },
  jobIds: ({ job }) => (job === null ? [] : [job.id]),
  members: ({ job, isThrottled, until }, input) => ({
    ...jobsMember(job === null ? [] : [job]),
    ...jsonOf({
      outcome: job === null ? "dropped" : outcomeOf(job, input),
      is_duplicate: job?.isDuplicate === true,
      is_throttled: isThrottled,
      until,
    }),
  }),
});

type AddResult = ThrottledAdd | { isThrottled: false; until: null; job: Job };
type AddInput = Input<typeof fields>;

const jobOf = (input: AddInput): AnyJob => ({
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
    deadline: input.deadline === "now" ? undefined : input.deadline,
    ...keyOptions(input),
  },
});

function outcomeOf(job: Job, input: AddInput): "added" | "updated" | "kept" {
  if (!job.isDuplicate) return "added";
  const { job_key_mode: mode, unique_while: lasts = "waiting" } = input;
  return mode === "unsafe-dedupe" || lasts !== "waiting" ? "kept" : "updated";
}
