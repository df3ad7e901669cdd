// The notes that warn of workers which may ignore limits and pauses. Such workers hold locks and send no heartbeats,
// as Graphile workers do.
import type { Database } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import { countText } from "../../domain/words.ts";
import { readLimits } from "../../queue/limits/limits.ts";
import { knownWorkers } from "../lists/known-workers.ts";

/** Returns the note on limits if there are limits, and a worker without heartbeats holds a lock; otherwise null. */
export async function limitsNote(db: Database): Promise<string | null> {
  if (!(await hasLimits(db)) || (await readLimits(db)).length === 0) return null;
  return unreportedNote(db);
}

/** Like limitsNote(), but does not check whether there are limits. */
export const unreportedNote = (db: Database): Promise<string | null> =>
  noteOn(db, "do not apply limits of tasks, and run no jobs of queues with a limit");

/**
 * Returns the note on these pauses if one of them is not of a named queue, and a worker without heartbeats holds a lock;
 * otherwise null.
 */
export async function pausesNote(
  db: Database,
  pauses: readonly { readonly scope: string }[],
): Promise<string | null> {
  if (pauses.every(({ scope }) => scope === "queue")) return null;
  return noteOn(db, "apply the pause of a queue, not that of a task or of everything");
}

async function noteOn(db: Database, what: string): Promise<string | null> {
  const { workers } = await knownWorkers(db);
  const unknown = workers.filter(({ state }) => state === "unknown").length;
  if (unknown === 0) return null;
  const may = countText(
    unknown,
    "worker sends no heartbeats and may be a Graphile worker",
    "workers send no heartbeats and may be Graphile workers",
  );
  return `${may}: Graphile workers ${what}`;
}
