// Whether the queue can be worked on: probes may ask as often as they like, the database is asked
// at most once a second and by one at a time.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { isReadOnlyServer } from "../../database/inspect/read-only-server.ts";
import { assertUsableSchema } from "../../database/schema/schema-state.ts";

/** What the database is like now. */
export interface DatabaseState {
  /** A standby, or a server that takes no writes: nothing can be changed through it. */
  readonly isReadOnlyServer: boolean;
  /** Why the queue cannot be read: a WorkerError; null: it can. */
  readonly problem: unknown;
}

export interface Readiness {
  /** Asked as often as a probe likes. Never rejects. */
  look(): Promise<DatabaseState>;
  /** Something has been done to the schema: who looks next looks anew. */
  forget(): void;
}

const CACHE_MS = 1_000;

export function createReadiness(db: Database): Readiness {
  let last: { readonly state: Promise<DatabaseState>; until: number } | null = null;
  return {
    look: () => {
      if (last !== null && monotonic() < last.until) return last.state;
      // While it goes on everybody shares it.
      const look = { state: lookAt(db), until: Number.POSITIVE_INFINITY };
      void look.state.then(() => {
        look.until = monotonic() + CACHE_MS;
      });
      last = look;
      return look.state;
    },
    forget: () => {
      last = null;
    },
  };
}

async function lookAt(db: Database): Promise<DatabaseState> {
  let isReadOnly = false;
  try {
    isReadOnly = await isReadOnlyServer(db);
    await assertUsableSchema(db);
    return { isReadOnlyServer: isReadOnly, problem: null };
  } catch (problem) {
    return { isReadOnlyServer: isReadOnly, problem };
  }
}
