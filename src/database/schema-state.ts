// What a schema holds: nothing, a queue that we can work on, or something else. Only reads; one
// look at the catalogue and one at the ledger, so that a readiness probe may ask every time.
import { WorkerError } from "../base/errors.ts";
import { type Database, query, type Statement } from "./database.ts";
import { type Catalogue, type Ledger, readCatalogue, readLedger } from "./schema-catalogue.ts";

/** The newest id of Graphile Worker's migrations that we know, and the oldest that we can use. */
export const KNOWN_LEVEL = 20;
const OLDEST_LEVEL = 18;
const LOOKS = 3;

/** Additions to Graphile Worker's schema, each of which may be absent. */
export type Extension = "workers";

/** A queue that can be worked on, whoever has made it. */
export interface ReadySchema {
  readonly kind: "ready";
  /** `ours`: it has our ledger of extensions; else who made it, as far as one can tell. */
  readonly origin: "ours" | "graphile" | "rust-port";
  readonly level: number;
  readonly extensions: ReadonlySet<Extension>;
  /** Objects of those extensions which are there; `migrate` makes the others. */
  readonly objects: ReadonlySet<string>;
  /** Something an operator should know, such as a newer but compatible level. */
  readonly warning: string | null;
}

export type SchemaState =
  | { readonly kind: "absent" }
  /** No object in it, or nothing but a ledger without rows. */
  | { readonly kind: "empty"; readonly hasLedger: boolean }
  | { readonly kind: "foreign"; readonly reason: string }
  | {
      readonly kind: "outdated" | "too-new";
      readonly level: number;
      readonly reason: string;
      /** Since the last step, by the database's clock: somebody may be migrating just now. */
      readonly age_s: number;
    }
  | ReadySchema;

const tables = [
  "_private_jobs",
  "_private_job_queues",
  "_private_tasks",
  "_private_known_crontabs",
] as const;

/** Everything that `extension-workers.sql` makes, under the names that the Rust port uses. */
export const workersObjects = [
  "_private_workers",
  "worker_heartbeat",
  "worker_deregister",
  "list_stale_workers",
  "list_orphan_locked_workers",
  "recover_dead_worker_jobs",
  "delete_stale_workers",
] as const;

const knownNames = ["migrations", "jobs", "_private_extensions", ...tables, ...workersObjects];

/** Looks at the schema. Throws only what the database throws, as WorkerError. */
export async function schemaState(db: Database): Promise<SchemaState> {
  // Catalogue and ledger are two snapshots: what contradicts itself may have been committed by
  // somebody else between them, so it is looked at again before it is believed.
  for (let look = 1; ; look++) {
    const found = await readCatalogue(db, knownNames);
    if (found === null) return { kind: "absent" };
    if (found.known.length + found.others.length === 0) return { kind: "empty", hasLedger: false };
    const state = isLedger(found.ledger)
      ? judge(found, await readLedger(db), db.schema.name)
      : stranger(found, db.schema.name);
    if (state.kind !== "foreign" || look === LOOKS) return state;
  }
}

function isLedger(columns: Catalogue["ledger"]): boolean {
  return columns?.id === "integer" && columns.ts === "timestamp with time zone";
}

function stranger({ known, others }: Catalogue, schema: string): SchemaState {
  const names = [...known, ...others].slice(0, 3).map((name) => `"${name}"`);
  const reason = `the schema "${schema}" holds other things (${names.join(", ")}); choose another name with --schema`;
  return { kind: "foreign", reason };
}

function judge(found: Catalogue, ledger: Ledger, schema: string): SchemaState {
  const has = (name: string) => found.known.includes(name);
  const { level, breaking, age_s } = ledger;
  if (level === null && found.known.length === 1 && found.others.length === 0) {
    return { kind: "empty", hasLedger: true };
  }
  // Graphile Worker's table was "jobs" up to level 10; since then that is a view.
  if (level === null || !has("jobs")) return stranger(found, schema);
  if (level < OLDEST_LEVEL) {
    const reason = `the schema "${schema}" is at Graphile Worker level ${level}, at least ${OLDEST_LEVEL} is needed; stop its workers and upgrade it first: npx graphile-worker@0.16.6 --schema-only --schema "${schema}"`;
    return { kind: "outdated", level, reason, age_s };
  }
  if (breaking !== null && breaking > KNOWN_LEVEL) {
    const reason = `the schema "${schema}" is at level ${level}, whose breaking change ${breaking} this version (up to ${KNOWN_LEVEL}) does not know; install a newer version of worker`;
    return { kind: "too-new", level, reason, age_s };
  }
  const missing = tables.find((table) => !has(table));
  if (missing !== undefined) {
    const reason = `the schema "${schema}" says it is at level ${level} but has no table "${missing}"; restore it, or choose another name with --schema`;
    return { kind: "foreign", reason };
  }
  return ready(found, level);
}

function ready({ known }: Catalogue, level: number): ReadySchema {
  const objects = new Set<string>(workersObjects.filter((name) => known.includes(name)));
  const hasWorkers = objects.has("_private_workers");
  const maker = hasWorkers ? "rust-port" : "graphile";
  return {
    kind: "ready",
    origin: known.includes("_private_extensions") ? "ours" : maker,
    level,
    extensions: new Set(hasWorkers ? (["workers"] as const) : []),
    objects,
    warning:
      level > KNOWN_LEVEL
        ? `the schema is at level ${level}, newer than this version of worker knows (${KNOWN_LEVEL}) but marked compatible; plan an upgrade of worker`
        : null,
  };
}

/** The state of a schema that can be worked on; throws schema_missing or schema_unsupported. */
export async function assertUsableSchema(db: Database): Promise<ReadySchema> {
  const state = await schemaState(db);
  const { name } = db.schema;
  const todo = `run "worker migrate" first, or name the right one with --schema`;
  switch (state.kind) {
    case "ready":
      await assertRowsVisible(db);
      return state;
    case "absent":
      throw new WorkerError("schema_missing", `there is no schema "${name}" here; ${todo}`);
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

// Row level security is on and has no policies: a role that it applies to sees an empty queue and no
// error. With policies of somebody's own it is meant so.
const hiddenSql: Statement = () => `
  select row_security_active($1::text::regclass)
    and not exists (select from pg_policy where polrelid = $1::text::regclass) as is_hidden`;

async function assertRowsVisible(db: Database): Promise<void> {
  const table = `${db.schema.quoted}._private_jobs`;
  const [row] = await query<{ is_hidden: boolean }>(db, hiddenSql, [table]);
  if (row?.is_hidden !== true) return;
  throw new WorkerError(
    "schema_unsupported",
    `row level security hides all jobs of "${db.schema.name}" from this database role; use the schema's owner, a role with BYPASSRLS, or add a policy`,
  );
}
