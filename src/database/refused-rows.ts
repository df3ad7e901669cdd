// Rows that PostgreSQL refuses to change, for example because a trigger of the application raises an error. One refused
// row makes a statement fail for all its rows, so changeUnrefused() searches for such rows and changes all others.
import type { Database } from "./database.ts";
import { isRefusedResult } from "./errors/database-errors.ts";
import { withSkippers } from "./skipped-rows.ts";

/** A row that was not changed, and the error with which PostgreSQL refused its change. */
export interface RefusedRow {
  readonly id: string;
  readonly error: unknown;
}

/** How many lists one call of changeUnrefused() halves. After that, all rows of a refused list count as refused. */
const MAX_HALVED = 1_000;

/**
 * Changes the rows with the ids `all`, except the rows that PostgreSQL refuses to change. A list with a refused row is
 * halved, and each half is sent by itself, until the refused row is alone. `change` changes the rows of a list in one
 * transaction and returns the number of changed rows. `refusal` is called after each list that was refused.
 */
export async function changeUnrefused(
  db: Database,
  all: readonly string[],
  change: (ids: readonly string[]) => Promise<number>,
  refusal: () => Promise<unknown> = async () => {},
): Promise<{ readonly changed: number; readonly refused: readonly RefusedRow[] }> {
  const refused: RefusedRow[] = [];
  let changed = 0;
  let halved = 0;
  const halve = async (ids: readonly string[]): Promise<void> => {
    try {
      changed += await change(ids);
    } catch (error) {
      if (!isRefusedResult(error)) throw error;
      await refusal();
      const middle = Math.ceil(ids.length / 2);
      if (ids.length === 1 || ++halved > MAX_HALVED) {
        const why = await withSkippers(db, "update", error);
        for (const id of ids) refused.push({ id, error: why });
      } else for (const half of [ids.slice(0, middle), ids.slice(middle)]) await halve(half);
    }
  };
  await halve(all);
  return { changed, refused };
}
