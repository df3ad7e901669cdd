// The command line of the suite.
import { parseArgs } from "node:util";
import { olderBinaries } from "../../support/postgres-versions.ts";

/** The PostgreSQL that comes with us. */
const OURS = "18";
/** The one that the targets were measured on. */
const TARGETS = "15";

export interface BenchOptions {
  /** Experiments to run, by name; empty = all. */
  readonly only: readonly string[];
  /** The contenders; empty = all. */
  readonly contenders: readonly string[];
  readonly rounds: number;
  /** Jobs of one drain. */
  readonly jobs: number;
  readonly quick: boolean;
  readonly soak: boolean;
  /** Directory of another PostgreSQL than ours: `bin/postgres` is in it. */
  readonly binaries: string | null;
  /** Data checksums of the cluster: their hint bits add some 50 B of WAL a job, with any contender. */
  readonly checksums: boolean;
  /** The file beside this folder that a full run writes; null = it is not one. */
  readonly results: string | null;
}

export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      contenders: { type: "string", default: "" },
      rounds: { type: "string" },
      jobs: { type: "string" },
      quick: { type: "boolean", default: false },
      soak: { type: "boolean", default: false },
      checksums: { type: "boolean", default: false },
      postgres: { type: "string", default: TARGETS },
    },
  });
  const only = names(values.only);
  const contenders = names(values.contenders);
  const isWhole = only.length + contenders.length === 0 && !values.quick && !values.soak;
  const suffix = values.postgres === TARGETS ? "" : `-postgres-${values.postgres}`;
  return {
    only,
    contenders,
    rounds: whole(values.rounds, values.quick ? 1 : 3),
    jobs: whole(values.jobs, values.quick ? 50_000 : 200_000),
    quick: values.quick,
    soak: values.soak,
    binaries: binariesOf(values.postgres),
    checksums: values.checksums,
    results: isWhole ? `RESULTS${suffix}.md` : null,
  };
}

function names(list: string): string[] {
  return list.split(",").filter((name) => name !== "");
}

function binariesOf(majorVersion: string): string | null {
  if (majorVersion === OURS) return null;
  const binaries = olderBinaries(majorVersion);
  if (binaries === null) throw new Error(`npm has not installed pg${majorVersion}`);
  return binaries;
}

function whole(text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`not a whole number: ${text}`);
  return value;
}
