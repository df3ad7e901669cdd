// Declares the command that pauses a queue, a task or everything. set-pause.ts stores the pause.

import { monotonic } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { countText } from "../../domain/words.ts";
import {
  type Acknowledgement,
  awaitAcknowledgement,
  NOT_ACKNOWLEDGED,
} from "../../insight/controls/acknowledgement.ts";
import {
  acknowledgementJson,
  acknowledgementShape,
  acknowledgementText,
} from "../../insight/controls/pause-text.ts";
import { pausesNote } from "../../insight/limits/unreported.ts";
import { cancelRunning } from "../cancel/cancel-running.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { duration, flag, optional, text, time } from "../declare/field.ts";
import { assertAhead, WAIT_MS } from "./pause-options.ts";
import { targetFields, targetOf, targetProblems, targetText } from "./pause-target.ts";
import { setPause } from "./set-pause.ts";

export const pauseCommand = defineCommand({
  name: "pause",
  aliases: [],
  summary: "Pause a queue, a task or everything, so that its jobs do not start",
  title: "Pause a queue",
  verb: "Pause",
  consequence:
    "Running jobs continue, and jobs can still be added. Without a time the pause lasts until it is resumed. Waits up to 5 seconds until all running workers have acknowledged the pause. Workers that have done so start no paused jobs. Graphile workers apply only pauses of queues, and acknowledge none.",
  weight: "light",
  danger: "changes",
  http: { path: "/api/pauses", action: "pause" },
  positionals: ["scope", "name"],
  fields: {
    ...targetFields,
    for_secs: optional(duration(["For", "resume after this time"], { option: "for" })),
    resume_at: optional(time(["Until", "resume at this time"], { option: "until" })),
    reason: optional(text(["Reason", "reason, shown with the pause"], 1, 200)),
    wait: optional(flag(["Wait", "wait up to 5 seconds for acknowledgements"]), {
      default: "true",
      shellAbout: "do not wait for the workers",
    }),
    cancel_running: optional(
      flag(["Cancel running jobs", "cancel the jobs that still run after the wait"]),
    ),
  },
  dialogFields: ["resume_at", "reason", "cancel_running"],
  key: "p",
  dialog: "pause",
  examples: [
    "worker pause queue mail --for 2h --reason deploy",
    "worker pause task send_email --cancel-running",
    "worker pause all --until 14:00",
  ],
  answer: {
    scope: "string",
    name: "string?",
    is_known: "boolean",
    ...acknowledgementShape,
    cancelling: "integer",
    note: "string?",
  },
  problems: (input) => [
    ...targetProblems(input),
    ...(input.for_secs !== undefined && input.resume_at !== undefined
      ? [{ path: "resume_at", message: "use either a time or a duration" }]
      : []),
    ...(input.cancel_running && input.wait === false
      ? [{ path: "cancel_running", message: "cannot be used without waiting for the workers" }]
      : []),
    ...(input.for_secs === 0 ? [{ path: "for_secs", message: "must be longer than 0" }] : []),
    ...(input.resume_at === "now" ? [{ path: "resume_at", message: "must be in the future" }] : []),
  ],
  prepare: async (db, { resume_at: resumeAt }) => {
    if (resumeAt !== undefined) await assertAhead(db, resumeAt, "resume_at");
  },
  run: async (
    db,
    { for_secs: secs, resume_at: resumeAt, reason, ...given },
    { by = null },
  ): Promise<PauseDone> => {
    const untilMs = monotonic() + WAIT_MS;
    const isKnown = await setPause(db, targetOf(given), {
      reason: reason ?? null,
      pausedBy: by,
      resumeAt: resumeAt ?? null,
      forMs: secs === undefined ? null : secs * 1_000,
    });
    return { untilMs, isKnown, workers: null, cancelling: 0, note: null, failures: [] };
  },
  follow: async (db, { untilMs, isKnown }, { wait = true, ...given }, { signal, by = null }) => {
    // The pause is committed, so a failure from now on is part of the result, and not an error.
    const failures: string[] = [];
    const attempt = async <T>(failure: string, work: () => Promise<T>) =>
      work().catch((error: unknown) => {
        failures.push(`${failure}: ${messageOf(error)}`);
        return null;
      });
    const workers = await attempt("the workers could not be read", () =>
      awaitAcknowledgement(db, wait ? untilMs : 0, signal),
    );
    const reason = given.reason ?? null;
    const cancelling = !given.cancel_running
      ? 0
      : await attempt("its running jobs could not be cancelled", () =>
          cancelRunning(db, targetOf(given), { reason, by }),
        );
    const note = await attempt("workers without heartbeats could not be read", () =>
      pausesNote(db, [targetOf(given)]),
    );
    return { untilMs, isKnown, workers, cancelling: cancelling ?? 0, note, failures };
  },
  isPartial: ({ failures }) => failures.length > 0,
  sentence: ({ isKnown, workers, cancelling, note, failures }, { scope, name, wait }) => {
    const parts = [
      `Paused ${targetText({ scope, name })}`,
      ...(isKnown ? [] : [`no ${scope} has this name yet`]),
      ...(workers === null ? [] : [acknowledgementText(workers, wait) ?? UNREPORTED]),
      ...(cancelling === 0
        ? []
        : [`${countText(cancelling, "running job is", "running jobs are")} being cancelled`]),
      ...(note === null ? [] : [note]),
      ...failures,
    ];
    return parts.join("; ");
  },
  members: ({ isKnown, workers, cancelling, note }, { scope, name = null }) =>
    jsonOf({
      ...{ scope, name, is_known: isKnown },
      ...acknowledgementJson(workers ?? NOT_ACKNOWLEDGED),
      cancelling,
      note,
    }),
});

/**
 * The text if no live worker sends heartbeats. Workers that send no heartbeats may still run: Graphile workers, and
 * workers with `recovery: false`.
 */
const UNREPORTED = "no worker with heartbeats is alive to acknowledge it";

export interface PauseDone {
  /** The time of monotonic() until which the command waits for the workers. */
  readonly untilMs: number;
  readonly isKnown: boolean;
  /** null: the workers have not been read yet, or reading them has failed. */
  readonly workers: Acknowledgement | null;
  /** The number of running jobs that are being cancelled. */
  readonly cancelling: number;
  /** A note about workers that may not apply the pause; null if no such workers are known. */
  readonly note: string | null;
  /** Texts, each with a step that has failed after the pause was committed, and the reason. */
  readonly failures: readonly string[];
}
