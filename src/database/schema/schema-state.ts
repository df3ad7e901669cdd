// Reads what a schema contains: nothing, a usable queue, or something else. The ledger is the table `migrations`, in
// which Graphile Worker records the migrations that were applied.
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import type { Database } from "../database.ts";
import type { Extension, Versions } from "./extensions/extension.ts";
import { extensions } from "./extensions/index.ts";
import {
  type Catalogue,
  type Ledger,
  readCatalogue,
  readLedger,
  readVersions,
} from "./schema-catalogue.ts";

/** The newest level that this version supports. */
export const KNOWN_LEVEL = 20;
const OLDEST_LEVEL = 18;
const MAX_READS = 5;
const PAUSE_MS = 10;

/** A schema that this version supports. */
export interface ReadySchema {
  readonly kind: "ready";
  /**
   * `ours`: this library has created the schema or has added extensions to it. `graphile`, `rust-port`: the program
   * that has created the schema.
   */
  readonly origin: "ours" | "graphile" | "rust-port";
  readonly level: number;
  /** The names of the extensions that exist. */
  readonly extensions: ReadonlySet<string>;
  /** The names of the extensions' objects that exist. */
  readonly objects: ReadonlySet<string>;
  readonly versions: Versions;
  /** Whether row level security hides all jobs from this role. */
  readonly isHidden: boolean;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
}

export type SchemaState =
  | { readonly kind: "absent" }
  /** The schema has no objects, or only a ledger without rows. */
  | { readonly kind: "empty"; readonly hasLedger: boolean }
  | { readonly kind: "foreign"; readonly reason: string }
  | {
      readonly kind: "outdated" | "too-new";
      readonly level: number;
      readonly reason: string;
      /**
       * Seconds since Graphile Worker's last migration, by the database's clock. Infinity if an extension is too new.
       */
      readonly age_s: number;
    }
  | ReadySchema;

const tables = [
  "_private_jobs",
  "_private_job_queues",
  "_private_tasks",
  "_private_known_crontabs",
] as const;

/** Reads the schema's state. */
export async function schemaState(
  db: Database,
  registry: readonly Extension[] = extensions,
): Promise<SchemaState> {
  const objects = registry.flatMap((extension) => extension.objects);
  const knownNames = ["migrations", "jobs", "_private_extensions", ...tables, ...objects];
  // The catalogue and the ledger are read in two snapshots, so they can contradict each other. `foreign` is returned
  // only if MAX_READS reads in a row had this result.
  for (let reads = 1; ; reads++) {
    const found = await readCatalogue(db, knownNames);
    if (found === null) return { kind: "absent" };
    if (found.known.length + found.others.length === 0) return { kind: "empty", hasLedger: false };
    const state = isLedger(found.ledger)
      ? judge(found, await readLedger(db), db.schema.name)
      : stranger(found, db.schema.name);
    if (state.kind === "foreign" && reads < MAX_READS) {
      await wait(reads * PAUSE_MS, new AbortController().signal);
      continue;
    }
    if (state.kind !== "known") return state;
    return ready(found, state, await versionsIn(db, found), {
      registry,
      schema: db.schema.name,
    });
  }
}

async function versionsIn(db: Database, { mayReadExtensions }: Catalogue): Promise<Versions> {
  if (mayReadExtensions === null) return new Map();
  return mayReadExtensions ? readVersions(db) : null;
}

function isLedger(columns: Catalogue["ledger"]): boolean {
  return columns?.id === "integer" && columns.ts === "timestamp with time zone";
}

function stranger({ known, others }: Catalogue, schema: string): SchemaState {
  const names = [...known, ...others].slice(0, 3).map((name) => `"${name}"`);
  const reason = `the schema "${schema}" contains other objects (${names.join(", ")}); choose another name with --schema`;
  return { kind: "foreign", reason };
}

/** An intermediate result: this version supports Graphile Worker's part of the schema. */
interface SupportedSchema {
  readonly kind: "known";
  readonly level: number;
  readonly isHidden: boolean;
}

function judge(found: Catalogue, ledger: Ledger, schema: string): SchemaState | SupportedSchema {
  const has = (name: string) => found.known.includes(name);
  const { level, breaking, age_s } = ledger;
  if (level === null && found.known.length === 1 && found.others.length === 0) {
    return { kind: "empty", hasLedger: true };
  }
  // At level 16, the table of jobs is "_private_jobs", and the view "jobs" does not exist.
  const isAtLevel16 = level === 16 && has("_private_jobs");
  if (level === null || !(has("jobs") || isAtLevel16)) return stranger(found, schema);
  if (level < OLDEST_LEVEL) {
    const reason = `the schema "${schema}" is at Graphile Worker level ${level}, at least ${OLDEST_LEVEL} is needed; stop its workers and upgrade it first: npx graphile-worker@0.16.6 --schema-only --schema "${schema}"`;
    return { kind: "outdated", level, reason, age_s };
  }
  if (breaking !== null && breaking > KNOWN_LEVEL) {
    const reason = `the schema "${schema}" is at level ${level} and has the breaking change ${breaking}; this version supports levels up to ${KNOWN_LEVEL}; install a newer version of worker`;
    return { kind: "too-new", level, reason, age_s };
  }
  const missing = tables.find((table) => !has(table));
  if (missing !== undefined) {
    const reason = `the schema "${schema}" is at level ${level} but has no table "${missing}"; restore it, or choose another name with --schema`;
    return { kind: "foreign", reason };
  }
  return { kind: "known", level, isHidden: ledger.is_hidden };
}

function ready(
  { known }: Catalogue,
  { level, isHidden }: SupportedSchema,
  versions: Versions,
  { registry, schema }: { readonly registry: readonly Extension[]; readonly schema: string },
): SchemaState {
  const newer = registry.find(({ name, version }) => (versions?.get(name) ?? 0) > version);
  if (newer !== undefined) {
    const reason = `the schema "${schema}" has version ${versions?.get(newer.name)} of the extension "${newer.name}", and this version of worker supports it up to ${newer.version}; install a newer version of worker`;
    return { kind: "too-new", level, reason, age_s: Number.POSITIVE_INFINITY };
  }
  const has = (name: string) => known.includes(name);
  const maker = has("_private_workers") ? "rust-port" : "graphile";
  const there = registry.filter(({ objects: [first = ""] }) => has(first));
  return {
    kind: "ready",
    origin: has("_private_extensions") ? "ours" : maker,
    level,
    extensions: new Set(there.map(({ name }) => name)),
    objects: new Set(registry.flatMap(({ objects }) => objects.filter(has))),
    versions,
    isHidden,
    warnings: [...levelWarnings(level), ...unknownWarnings(versions, registry)],
  };
}

function levelWarnings(level: number): string[] {
  if (level <= KNOWN_LEVEL) return [];
  return [
    `the schema is at level ${level}, and this version of worker supports levels up to ${KNOWN_LEVEL}; the schema is marked as compatible, but plan an upgrade of worker`,
  ];
}

/** Unknown extensions do no harm, because they only add objects, which this version does not use. */
function unknownWarnings(versions: Versions, registry: readonly Extension[]): string[] {
  return [...(versions?.keys() ?? [])]
    .filter((name) => !registry.some((extension) => extension.name === name))
    .map(
      (name) =>
        `the schema has an extension "${name}" that this version of worker does not support and does not change; plan an upgrade of worker`,
    );
}

/** Returns the advice for a missing schema. */
export const howToCreate = (schema: string): string =>
  `create it with migrate() of makeWorkerUtils() or with "${workerLine(schema, "worker migrate")}", or set the option schema to the right one`;

/** Returns the state of a usable schema. Throws schema_missing or schema_unsupported. */
export async function assertUsableSchema(
  db: Database,
  registry: readonly Extension[] = extensions,
): Promise<ReadySchema> {
  return assertUsable(await schemaState(db, registry), db.schema.name);
}

/** Returns the state if the schema `name` is usable. Throws as assertUsableSchema() does. */
export function assertUsable(state: SchemaState, name: string): ReadySchema {
  const todo = howToCreate(name);
  switch (state.kind) {
    case "ready":
      if (state.isHidden) throw hiddenRows(name);
      return state;
    case "absent":
      throw new WorkerError("schema_missing", `the schema "${name}" does not exist; ${todo}`);
    case "empty":
      throw new WorkerError("schema_missing", `the schema "${name}" is empty; ${todo}`);
    case "foreign":
    case "outdated":
    case "too-new":
      throw new WorkerError("schema_unsupported", state.reason);
    default:
      return state satisfies never;
  }
}

function hiddenRows(schema: string): WorkerError {
  return new WorkerError(
    "schema_unsupported",
    `row level security hides all jobs of "${schema}" from this database role; use the schema's owner, a role with BYPASSRLS, or add a policy`,
  );
}
