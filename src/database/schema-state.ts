// What a schema holds: nothing, a queue that we can work on, or something else. Only reads; one
// look at the catalogue and one at the ledger, so that a readiness probe may ask every time.
import { WorkerError } from "../base/errors.ts";
import { type Database, query } from "./database.ts";

/** The newest id of Graphile Worker's migrations that we know, and the oldest that we can use. */
export const KNOWN_LEVEL = 20;
const OLDEST_LEVEL = 18;

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

interface Catalogue {
  readonly present: boolean;
  readonly known: readonly string[];
  /** Column → type of the table `migrations`. */
  readonly ledger: { readonly id?: string; readonly ts?: string } | null;
  readonly others: readonly string[];
}

// pg_catalog only, because has-privilege questions do not arise there: a role without rights on
// the schema gets the same answer. Objects of extensions (in "public", say) do not count.
const catalogue = () => `
  with space as (select oid from pg_catalog.pg_namespace where nspname = $1::text),
  object as (
    select oid, 'pg_class'::regclass as class, relname::text as name
    from pg_catalog.pg_class
    where relnamespace = (select oid from space) and relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    union all
    select oid, 'pg_proc'::regclass, proname::text
    from pg_catalog.pg_proc where pronamespace = (select oid from space)
    union all
    select oid, 'pg_type'::regclass, typname::text
    from pg_catalog.pg_type
    where typnamespace = (select oid from space) and typtype in ('d', 'e', 'r')
  ),
  own as (
    select distinct name from object
    where not exists (
      select from pg_catalog.pg_depend
      where deptype = 'e' and classid = object.class and objid = object.oid
    )
  )
  select
    exists (select from space) as present,
    (select coalesce(json_agg(name), '[]') from own where name = any($2::text[])) as known,
    (
      select json_object_agg(attname, format_type(atttypid, null))
      from pg_catalog.pg_attribute
      where attnum > 0 and not attisdropped and attrelid = (
        select oid from pg_catalog.pg_class
        where relnamespace = (select oid from space) and relname = 'migrations'
        and relkind in ('r', 'p')
      )
    ) as ledger,
    (
      select coalesce(json_agg(name), '[]')
      from (select name from own where name <> all($2::text[]) order by name limit 3) as first
    ) as others`;

const knownNames = ["migrations", "jobs", "_private_extensions", ...tables, ...workersObjects];

interface Ledger {
  readonly level: number | null;
  readonly breaking: number | null;
  readonly age_s: number;
}

// Through to_jsonb, because installations from before Graphile Worker 0.14 lack `breaking`.
const ledger = (schema: string) => `
  select
    max(id) as level,
    max(id) filter (where (to_jsonb(step)->>'breaking')::boolean) as breaking,
    coalesce(extract(epoch from now() - max(ts)), 0)::float8 as age_s
  from ${schema}.migrations as step`;

/** Looks at the schema. Throws only what the database throws, as WorkerError. */
export async function schemaState(db: Database): Promise<SchemaState> {
  const [row] = await query<
    Record<"known" | "others", string> & { present: boolean; ledger: string | null }
  >(db, catalogue, [db.schema.name, knownNames]);
  if (row === undefined || !row.present) return { kind: "absent" };
  const found: Catalogue = {
    present: true,
    known: JSON.parse(row.known),
    others: JSON.parse(row.others),
    ledger: row.ledger === null ? null : JSON.parse(row.ledger),
  };
  if (found.known.length === 0 && found.others.length === 0) {
    return { kind: "empty", hasLedger: false };
  }
  const stranger = notGraphile(found, db.schema.name);
  if (stranger !== null) return { kind: "foreign", reason: stranger };
  const [levels] = await query<{ [K in keyof Ledger]: Ledger[K] }>(db, ledger);
  return judge(found, levels ?? { level: null, breaking: null, age_s: 0 }, db.schema.name);
}

function notGraphile({ ledger, known, others }: Catalogue, schema: string): string | null {
  if (ledger?.id === "integer" && ledger.ts !== undefined) return null;
  const names = [...known, ...others].slice(0, 3).map((name) => `"${name}"`);
  return `the schema "${schema}" holds other things (${names.join(", ")}); choose another name with --schema`;
}

function judge(found: Catalogue, ledger: Ledger, schema: string): SchemaState {
  const has = (name: string) => found.known.includes(name);
  const { level, breaking, age_s } = ledger;
  if (level === null) {
    if (found.known.length === 1 && found.others.length === 0) {
      return { kind: "empty", hasLedger: true };
    }
    const other = [...found.known, ...found.others].find((name) => name !== "migrations");
    return {
      kind: "foreign",
      reason: `the schema "${schema}" holds "${other}" but its table "migrations" has no row; choose another name with --schema`,
    };
  }
  if (level < OLDEST_LEVEL) {
    const reason = `the schema "${schema}" is at Graphile Worker level ${level}, at least ${OLDEST_LEVEL} is needed; upgrade it first with "npx graphile-worker@0.16 --schema-only" (stop its workers before)`;
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
  const stranger = hasWorkers ? "rust-port" : "graphile";
  return {
    kind: "ready",
    origin: known.includes("_private_extensions") ? "ours" : stranger,
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
