// The statements of limits, for their golden files.
import { removeLimit, setLimit } from "../../src/commands/limits/set-limit.ts";
import type { Database } from "../../src/database/database.ts";
import type { LimitDefinition } from "../../src/domain/limits/limit.ts";
import { readLimits } from "../../src/queue/limits/limits.ts";

type Call = (db: Database) => Promise<unknown>;
type Answer = (text: string) => Record<string, unknown>;

const definition: LimitDefinition = {
  ...({ name: "l", scope: "task", match: "t" } as const),
  concurrency: 1,
  rate: { limit: 1, perMs: 1, burst: 1 },
};
const there: Answer = () => ({ is_there: true, is_changed: true, set_us: "0" });

export const limitCalls: Readonly<Record<string, Call | readonly [Call, Answer]>> = {
  "limit-set": [(db) => setLimit(db, { definition, setBy: null, isFromCode: false }), there],
  "limit-remove": [(db) => removeLimit(db, "l"), there],
  "limits-read": [(db) => readLimits(db), there],
};
