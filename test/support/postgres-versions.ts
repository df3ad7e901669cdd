// PostgreSQL servers older than the included one: npm packages named pg15, pg16 and pg17.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the directory with `bin/postgres` of a major version; null if npm has not installed it. */
export function olderBinaries(majorVersion: string): string | null {
  try {
    const main = createRequire(import.meta.url).resolve(`pg${majorVersion}`);
    return join(dirname(main), "..", "native");
  } catch {
    return null;
  }
}
