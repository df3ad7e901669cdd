// All that the rules of the incidents are given. What could not be read is missing, and told as trouble
// of its own: half a picture is shown as half a picture.
import type { Value } from "../../domain/value.ts";
import type { Difference } from "../groups/differences.ts";
import type { Groups } from "../groups/group.ts";
import type { Horizon } from "../horizon/buckets.ts";
import type { Knowledge } from "../why/knowledge.ts";
import type { Crash } from "./crashes.ts";
import type { HeldQueue, SilentWorker } from "./holders-at-fault.ts";
import type { PoisonJob } from "./poison-walk.ts";
import type { ServerTrouble } from "./server-trouble.ts";

export interface WaitingQueue extends HeldQueue {
  /** null: none of what was read waits for it, and not all was read. */
  readonly waiting: Value | null;
  readonly trend: readonly number[];
}

export interface WaitingTask {
  readonly id: number;
  readonly identifier: string;
  /** Due, and in no locked queue. */
  readonly waiting: Value;
  readonly oldestMs: number;
}

export interface IncidentFacts {
  readonly nowMs: number;
  readonly asOf: string;
  /** Heartbeats are there to be read. */
  readonly hasWorkers: boolean;
  readonly queues: readonly WaitingQueue[];
  readonly tasks: readonly WaitingTask[];
  readonly knowledge: Knowledge;
  /** For how long no job was locked or finished; null: not known. */
  readonly quietMs: number | null;
  readonly silent: readonly SilentWorker[];
  readonly crashes: readonly Crash[];
  /** Of the failed jobs. */
  readonly errors: Groups | null;
  /** Error group → what its jobs have in common and others have not; of the largest groups. */
  readonly common: ReadonlyMap<string, Difference>;
  /** Labels of the errors of jobs that were failed by hand. */
  readonly reasons: ReadonlySet<string>;
  readonly poison: readonly PoisonJob[];
  /** Workers that have locked jobs; null as long as not all of the table was looked at. */
  readonly jobHolders: readonly string[] | null;
  readonly horizon: Horizon | null;
  readonly server: ServerTrouble | null;
  /** In words: what could not be read in time. */
  readonly unread: readonly string[];
}
