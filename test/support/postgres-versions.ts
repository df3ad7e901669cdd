// Finds the programs of PostgreSQL servers that are older than the embedded one. The programs are in npm packages that
// package.json names pg15, pg16 and pg17.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the directory that contains `bin/postgres` of a major version; null if npm has not installed its package. */
export function olderBinaries(majorVersion: string): string | null {
  try {
    const main = createRequire(import.meta.url).resolve(`pg${majorVersion}`);
    return join(dirname(main), "..", "native");
  } catch {
    return null;
  }
}
