// The operations on limits, as methods of WorkerUtils. Also creates the limits that a worker's options define.

import * as v from "valibot";
import type { Logger } from "../base/logger.ts";
import { strict, validate } from "../base/validate.ts";
import { endBackOffs, noLimit } from "../commands/limits/change-limit.ts";
import { createLimits, removeLimit, setLimit } from "../commands/limits/set-limit.ts";
import type { Database } from "../database/database.ts";
import { LIMIT_TABLES, requireTables } from "../database/schema/extensions/missing-tables.ts";
import { boundedText } from "../domain/job-spec.ts";
import {
  type LimitDefinition,
  type LimitOptions,
  limitSchema,
  type Rate,
} from "../domain/limits/limit.ts";
import { limitText } from "../domain/limits/limit-text.ts";
import { readLimits, type StoredLimit } from "../queue/limits/limits.ts";

/** A limit as it is stored. */
export interface Limit {
  /** The name, unique in the schema. */
  readonly name: string;
  /** The task whose jobs are limited; each `*` matches any text. null: the limit is for queues. */
  readonly task: string | null;
  /** The named queue whose jobs are limited; each `*` matches any text. null: the limit is for tasks. */
  readonly queue: string | null;
  /** The maximum number of jobs that run at once, in each queue separately if `queue` is not null. null: no maximum. */
  readonly concurrency: number | null;
  /** How many jobs may start in a period, and the burst, per queue if `queue` is not null. null: no rate. */
  readonly rate: Required<Rate> | null;
  /** Whether a worker's options created the limit, and no user has changed it since. */
  readonly isFromCode: boolean;
  /** The user that set the limit last; null if no user was given. */
  readonly setBy: string | null;
  /** The time at which the limit was set last. */
  readonly setAt: Date;
  /** 1 for a new limit. Each change of the limit's task, queue, concurrency or rate adds 1. */
  readonly revision: number;
  /** Until when no job under the limit starts, and why; null: the limit has no back-off. */
  readonly backOff: { readonly until: Date; readonly reason: string | null } | null;
}

/** The operations on limits. All reject with `extension_missing` until `worker migrate --with limits` has been run. */
export interface LimitOperations {
  /**
   * Creates the limit, or replaces the limit of the same name. A limit applies over all workers of this library.
   * Workers apply a new or changed limit within 2 seconds; running jobs are never stopped. Resolves to false if an
   * equal limit existed. `setBy`: the user, shown with the limit, at most 128 characters. Rejects with `conflict` if
   * there are 1,000 limits and none has this name, or if a limit for tasks would replace a limit for queues, or the
   * reverse. Rejects with InputError for invalid values.
   */
  setLimit(
    limit: LimitOptions,
    by?: { readonly setBy?: string | null | undefined },
  ): Promise<boolean>;
  /** Removes the limit of this name. Resolves to false if there was no limit. */
  removeLimit(name: string): Promise<boolean>;
  /**
   * Ends the back-offs of the limit of this name, and of the tasks or queues that the limit matches. A pause that a
   * user has set stays. Resolves to the number of ended back-offs. Rejects with `not_found` if there is no such limit.
   */
  endBackOff(name: string): Promise<number>;
  /** Returns the limit of this name. Rejects with `not_found` if there is none. */
  getLimit(name: string): Promise<Limit>;
  /** Returns all limits in the order of their names. */
  listLimits(): Promise<Limit[]>;
}

const bySchema = strict({ setBy: v.nullish(boundedText(1, 128), null) });
const nameSchema = v.string("the name of a limit must be a string");

export function limitOperations(db: Database): LimitOperations {
  const list = async () => {
    await requireTables(db, LIMIT_TABLES);
    return (await readLimits(db)).map(publicLimit);
  };
  return {
    setLimit: async (limit, by = {}) =>
      setLimit(db, { definition: validate(limitSchema, limit), ...validate(bySchema, by) }),
    removeLimit: async (name) => removeLimit(db, validate(nameSchema, name)),
    endBackOff: async (name) => (await endBackOffs(db, validate(nameSchema, name))).length,
    getLimit: async (name) => {
      validate(nameSchema, name);
      const limit = (await list()).find((one) => one.name === name);
      if (limit === undefined) throw noLimit(name);
      return limit;
    },
    listLimits: async () => (await list()).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** Creates the limits of a worker's options whose names are new. Logs a warning for each stored limit that differs. */
export async function createWorkerLimits(
  db: Database,
  limits: readonly LimitDefinition[],
  logger: Logger,
): Promise<void> {
  for (const { wanted, stored } of await createLimits(db, limits)) {
    const fields = { limit: wanted.name, option: limitText(wanted), stored: limitText(stored) };
    logger.warn(
      fields,
      "a stored limit differs from the one in this worker's options: the stored one applies and stays",
    );
  }
}

function publicLimit({ definition, isFromCode, setBy, setAt, revision, backOff }: StoredLimit) {
  const { name, scope, match, concurrency, rate } = definition;
  const [task, queue] = scope === "task" ? [match, null] : [null, match];
  const origin = { isFromCode, setBy, setAt, revision };
  const backs = backOff === null ? null : { until: backOff.until, reason: backOff.reason };
  return { name, task, queue, concurrency, rate, ...origin, backOff: backs } satisfies Limit;
}
