// Which workers may not obey limits: those that hold locks and send no heartbeats. Graphile Worker's own are among them.
import type { Database } from "../../database/database.ts";
import { counted } from "../../domain/words.ts";
import { knownWorkers } from "../lists/known-workers.ts";

/** Returns the sentence without a full stop; null: no such worker holds a lock that can be found. */
export async function unreportedNote(db: Database): Promise<string | null> {
  const { workers } = await knownWorkers(db);
  const unknown = workers.filter(({ state }) => state === "unknown").length;
  if (unknown === 0) return null;
  const who = counted(unknown, "worker sends", "workers send");
  return `${who} no heartbeats: Graphile Worker's own workers do not obey limits of tasks, and run no jobs of queues with a limit`;
}
