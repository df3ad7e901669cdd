// Rows that PostgreSQL refuses to change, because a trigger or constraint of the application raises an error. One
// statement changes many rows, so one refused row undoes the changes of all. This file finds the refused rows.
import type { Database } from "./database.ts";
import { isRefusedResult } from "./errors/database-errors.ts";
import { withSkippers } from "./skipped-rows.ts";

/** A row that cannot be changed, because a trigger or constraint refuses or skips the change. */
export interface RefusedRow {
  readonly id: string;
  readonly error: unknown;
}

/** How many lists are halved in one call. After that, all rows of a list with a refused row count as refused. */
const MAX_STATEMENTS = 1_000;

/**
 * Changes the rows that are not refused. A list with a refused row is halved until that row is alone. `change` changes
 * the rows with these ids in one transaction and returns their number. `refusal`: called after each refused statement.
 */
export async function changeUnrefused(
  db: Database,
  all: readonly string[],
  change: (ids: readonly string[]) => Promise<number>,
  refusal: () => Promise<unknown> = async () => {},
): Promise<{ readonly changed: number; readonly refused: readonly RefusedRow[] }> {
  const refused: RefusedRow[] = [];
  let changed = 0;
  let statements = 0;
  const halve = async (ids: readonly string[]): Promise<void> => {
    try {
      changed += await change(ids);
    } catch (error) {
      if (!isRefusedResult(error)) throw error;
      await refusal();
      const middle = Math.ceil(ids.length / 2);
      if (ids.length === 1 || ++statements > MAX_STATEMENTS) {
        const why = await withSkippers(db, "update", error);
        for (const id of ids) refused.push({ id, error: why });
      } else for (const half of [ids.slice(0, middle), ids.slice(middle)]) await halve(half);
    }
  };
  await halve(all);
  return { changed, refused };
}
