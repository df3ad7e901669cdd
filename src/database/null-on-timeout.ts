// A reading without which one can do.
import { codeOf } from "../base/errors.ts";

/** What it gives; null where PostgreSQL stopped the statement for the time that it took. */
export async function nullOnTimeout<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) !== "database_timeout") throw error;
    return null;
  }
}
