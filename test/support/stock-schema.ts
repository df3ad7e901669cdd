// Installs schemas as other programs create them: Graphile Worker's schema at any level (the number of its last
// migration), and the schema of Graphile Worker's Rust port. Tests adopt these schemas, or compare them with the schema
// of this library.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { type SchemaName, schemaName } from "../../src/database/schema-name.ts";

const sqlFolder = join(dirname(fileURLToPath(import.meta.resolve("graphile-worker"))), "..", "sql");

/** Creates the schema as graphile-worker's own migrations do, up to the migration `level`. */
export async function installStock(
  client: pg.Pool | pg.Client,
  schema: SchemaName = schemaName(),
  level = 20,
): Promise<void> {
  await client.query(`
    create schema if not exists ${schema.quoted};
    create table ${schema.quoted}.migrations (
      id int primary key,
      ts timestamptz default now() not null
    );
    alter table ${schema.quoted}.migrations add column breaking boolean not null default false`);
  for (const file of readdirSync(sqlFolder).sort()) {
    const id = Number.parseInt(file, 10);
    if (id > level) break;
    const text = readFileSync(join(sqlFolder, file), "utf8");
    const breaking = text.startsWith("--! breaking-change");
    await client.query(
      `begin;
      insert into ${schema.quoted}.migrations (id, breaking) values (${id}, ${breaking});
      ${text.replaceAll(/:GRAPHILE_WORKER_SCHEMA\b/g, () => schema.quoted)}
      ;commit`,
    );
  }
}

/**
 * Installs Graphile Worker's migrations up to 18, and then the migrations 19 and 20 of the Rust port. These two are not
 * marked as breaking. They add a table of workers with heartbeats, and two functions.
 */
export async function installRustPort(
  client: pg.Pool | pg.Client,
  schema: SchemaName = schemaName(),
): Promise<void> {
  const s = schema.quoted;
  await installStock(client, schema, 18);
  await client.query(`
    insert into ${s}.migrations (id) values (19), (20);
    create table ${s}._private_workers (
      id text primary key,
      last_heartbeat_at timestamptz not null,
      started_at timestamptz not null default now(),
      metadata jsonb
    );
    create function ${s}.worker_heartbeat(worker_id text, metadata json default null)
    returns void language sql as $$
      insert into ${s}._private_workers as workers (id, last_heartbeat_at, metadata)
      values (worker_heartbeat.worker_id, now(), metadata::jsonb)
      on conflict (id) do update set last_heartbeat_at = now(),
        metadata = coalesce(excluded.metadata, workers.metadata)
    $$;
    create function ${s}.recover_dead_worker_jobs(
      worker_ids text[], recovery_delay interval default interval '0 seconds'
    ) returns int language plpgsql as $$
    begin
      update ${s}._private_jobs as jobs
      set attempts = greatest(0, attempts - 1), locked_by = null, locked_at = null
      where locked_by = any(worker_ids);
      return 1;
    end $$`);
}
