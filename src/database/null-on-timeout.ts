// Makes the result of a slow read optional.
import { codeOf } from "../base/errors.ts";

/** Returns the read's value, or null if PostgreSQL has stopped the statement (`database_timeout`). */
export async function nullOnTimeout<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) !== "database_timeout") throw error;
    return null;
  }
}
