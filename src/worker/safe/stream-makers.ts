// Creates the streams of the safe mode (stream.ts) from the parts that all of them share.
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { FetcherLink } from "../fetch/fetcher.ts";
import type { ManagedQueues } from "../fetch/managed-queues.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { LimitedGroup } from "../limits/session-limits.ts";
import type { LocalQueueParts } from "./local-queue.ts";
import { ManagedStream } from "./managed-stream.ts";
import type { RoundTrips } from "./round-trips.ts";
import type { SafeFetcherParts } from "./safe-fetcher-parts.ts";
import { Stream } from "./stream.ts";

export interface StreamsParts {
  readonly parts: Pick<
    SafeFetcherParts<unknown>,
    | "clock"
    | "config"
    | "free"
    | "hooks"
    | "lease"
    | "limits"
    | "parametersOf"
    | "tasks"
    | "workerId"
  >;
  readonly link: Pick<FetcherLink, "changed" | "slots">;
  readonly trips: RoundTrips;
  readonly connections: Pick<WorkerConnections, "take" | "giveBack">;
  readonly giveBack: LocalQueueParts["giveBack"];
  readonly delayOver: LocalQueueParts["delayOver"];
}

export interface StreamMakers {
  /** Creates the stream of a group of limited tasks; for null, the main stream. */
  make(group: LimitedGroup | null): Stream;
  /**
   * Creates the stream of the jobs in managed queues (managed-stream.ts), for the tasks of `owner`, or if `owner` is
   * null, for the tasks without a limit.
   */
  makeManaged(owner: Stream | null): ManagedStream;
}

export function streamMakers(own: StreamsParts, queues: ManagedQueues): StreamMakers {
  const { clock, config, free, hooks, parametersOf, tasks, workerId } = own.parts;
  const { trips, giveBack, delayOver } = own;
  const shared = { clock, trips, config: config.localQueue };
  const queueParts = { hooks, workerId, giveBack, delayOver };
  const parts = (group: LimitedGroup | null, kind: JobKind, of: TaskParameters) => {
    return { ...shared, queueParts, group, free: kind, tasks: of };
  };
  return {
    // The fast mode runs no jobs of limited tasks, so the streams of these tasks fetch jobs of all kinds.
    make: (group) => {
      if (group === null) return new Stream(parts(null, free, tasks));
      return new Stream(parts(group, "all", parametersOf(group.names)));
    },
    makeManaged: (owner) => {
      const group = owner?.group ?? null;
      return new ManagedStream({ ...parts(group, "all", owner?.tasks ?? tasks), queues, owner });
    },
  };
}
