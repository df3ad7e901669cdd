// Builds optional indexes: in the background of an admin, one after the other (createIndexBuilds), or in a command,
// which waits for the end of the build (buildAndLog).
import type { Pool } from "pg";
import { wait } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Database } from "../../database.ts";
import { buildIndex, cancelBuild, type IndexPlace } from "./build-index.ts";
import { readBuilds } from "./build-progress.ts";
import type { IndexName } from "./optional-index.ts";

export interface IndexBuilds {
  /** Adds the index to the waiting builds, unless its build runs in this process and has not been cancelled. */
  start(name: IndexName): void;
  /**
   * Cancels the index's build that waits or runs in this process. If there is none, cancels the index's builds in other
   * processes. Returns whether there was a build.
   */
  cancel(name: IndexName): Promise<boolean>;
  /** Whether a build of the index waits or runs in this process. */
  isWaiting(name: IndexName): boolean;
  /** Returns why the last build in this process failed; null if it did not fail, or was cancelled by cancel(). */
  failureOf(name: IndexName): string | null;
  /** Starts no further builds. PostgreSQL completes a running build without this process. */
  stop(): void;
}

export function createIndexBuilds(pool: Pool, db: Database, logger: Logger): IndexBuilds {
  const place: IndexPlace = { pool, db };
  const leave = new AbortController();
  const waiting = new Set<IndexName>();
  const failures = new Map<IndexName, string>();
  let running: { readonly name: IndexName; readonly cancel: AbortController } | null = null;

  const work = async () => {
    for (const name of waiting) {
      if (leave.signal.aborted) return;
      const cancel = new AbortController();
      running = { name, cancel };
      waiting.delete(name);
      await buildIndex(place, name, { cancel: cancel.signal, leave: leave.signal }).then(
        () => logger.info({ index: name }, "an index was built"),
        (error: unknown) => {
          if (leave.signal.aborted) return;
          if (!cancel.signal.aborted) failures.set(name, messageOf(error));
          logger.warn({ index: name, error: messageOf(error) }, "an index was not built");
        },
      );
      running = null;
    }
  };

  return {
    start(name) {
      if (running?.name === name && !running.cancel.signal.aborted) return;
      failures.delete(name);
      waiting.add(name);
      if (running === null && waiting.size === 1) void work();
    },
    async cancel(name) {
      if (waiting.delete(name)) return true;
      if (running?.name !== name) return cancelBuild(db, name);
      running.cancel.abort();
      return true;
    },
    isWaiting: (name) => waiting.has(name) || running?.name === name,
    failureOf: (name) => failures.get(name) ?? null,
    stop: () => leave.abort(),
  };
}

const LOG_EVERY_MS = 2_000;

/** Builds the index and logs the progress of the build. Resolves and throws as buildIndex() does. */
export async function buildAndLog(
  place: IndexPlace,
  name: IndexName,
  cancel: AbortSignal,
  logger: Logger,
): Promise<void> {
  const done = new AbortController();
  const logProgress = async () => {
    while (await wait(LOG_EVERY_MS, done.signal)) {
      const builds = await readBuilds(place.db).catch(() => []);
      const build = builds.find((one) => one.name === name);
      if (build === undefined || done.signal.aborted) continue;
      const share =
        build.share === null ? "" : `, ${Math.floor(build.share * 100)} % of this phase`;
      logger.info({}, `index ${name}: ${build.phase}${share}`);
    }
  };
  const logging = logProgress();
  try {
    await buildIndex(place, name, { cancel, leave: new AbortController().signal });
  } finally {
    done.abort();
    await logging;
  }
}
