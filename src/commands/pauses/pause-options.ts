// The options and the result of the library's pauses, and the functions that set or end a pause.
import * as v from "valibot";
import { monotonic } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { assertNoTransaction } from "../../database/inspect/open-transactions.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { isMoment } from "../../domain/moment.ts";
import {
  type Acknowledgement,
  awaitAcknowledgement,
} from "../../insight/controls/acknowledgement.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import type { PauseTarget } from "../../queue/pauses/pause.ts";
import { cancelRunning } from "../cancel/cancel-running.ts";
import { endPause, type ResumeResult, setPause } from "./set-pause.ts";

/** Options of pauseQueue(), pauseTask() and pauseAll(). */
export interface PauseOptions {
  /** The reason, shown with the pause: at most 200 characters. */
  readonly reason?: string | null | undefined;
  /** The time at which the pause ends by itself. Default: the pause lasts until a user resumes the target. */
  readonly resumeAt?: Date | null | undefined;
  /** The user, shown with the pause: at most 128 characters. */
  readonly pausedBy?: string | null | undefined;
  /**
   * How long to wait for all live workers to acknowledge the pause, in milliseconds from the call: 0 (does not wait) to
   * 60,000. Default 5,000.
   */
  readonly waitMs?: number | undefined;
  /** Cancels the target's running jobs after the wait. Refused in a transaction and with `waitMs: 0`. Default false. */
  readonly cancelRunning?: boolean | undefined;
  /** When the signal aborts, the wait ends. The pause stays. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a pause. */
export interface PauseResult extends Acknowledgement {
  /** With `cancelRunning`: the number of running jobs that are being cancelled. */
  readonly cancelling?: number;
}

/** The default of `waitMs`. */
export const WAIT_MS = 5_000;
const MAX_WAIT_MS = 60_000;

const optionsSchema = v.pipe(
  strict({
    reason: v.nullish(boundedText(1, 200), null),
    resumeAt: v.nullish(
      v.pipe(
        v.date("must be a Date"),
        v.check((date) => isMoment(date.toISOString()), "must be before the year 10000"),
      ),
      null,
    ),
    pausedBy: v.nullish(boundedText(1, 128), null),
    waitMs: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.check((ms) => ms >= 0 && ms <= MAX_WAIT_MS, "must be from 0 to 60000"),
      ),
      WAIT_MS,
    ),
    cancelRunning: v.optional(v.boolean("must be true or false"), false),
    signal: v.optional(v.instance(AbortSignal, "must be an AbortSignal")),
  }),
  v.check(
    ({ cancelRunning: cancels, waitMs }) => !cancels || waitMs > 0,
    "cancelRunning needs a wait for the workers",
  ),
);

const nameSchema = strict({ name: boundedText(1, 128) });

/** Throws InputError for `path` unless `resumeAt` is in the future by the database's clock. */
export async function assertAhead(db: Database, resumeAt: string, path: string): Promise<void> {
  if (Date.parse(resumeAt) > (await databaseTime(db))) return;
  throw new InputError([{ path, message: "must be in the future" }]);
}

/**
 * Pauses the target. Throws InputError and `extension_missing`. With `cancelRunning` in a transaction, throws
 * `configuration`.
 */
export async function pauseWith(
  db: Database,
  target: PauseTarget,
  options: PauseOptions = {},
): Promise<PauseResult> {
  validate(nameSchema, { name: target.name });
  const checked = validate(optionsSchema, options);
  const { reason, resumeAt, pausedBy, waitMs, signal, cancelRunning: cancels } = checked;
  const untilMs = monotonic() + waitMs;
  const pause = { reason, pausedBy, resumeAt: resumeAt?.toISOString() ?? null, forMs: null };
  if (pause.resumeAt !== null) await assertAhead(db, pause.resumeAt, "resumeAt");
  if (cancels) await assertNoTransaction(db, "a pause that cancels running jobs");
  await setPause(db, target, pause);
  const workers = await awaitAcknowledgement(db, untilMs, signal);
  if (!cancels) return workers;
  return { ...workers, cancelling: await cancelRunning(db, target, { reason, by: pausedBy }) };
}

/** Ends the pause of the target. Throws InputError and `extension_missing`. */
export async function resumeTarget(db: Database, target: PauseTarget): Promise<ResumeResult> {
  validate(nameSchema, { name: target.name });
  return endPause(db, target);
}
