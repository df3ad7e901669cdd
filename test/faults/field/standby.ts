// Makes a standby of a running primary, as pg_basebackup does. The files are copied between pg_backup_start() and
// pg_backup_stop(). When the standby runs, it reads all later changes from the primary. The only programs that are
// needed are PostgreSQL and cp.
import { execFile } from "node:child_process";
import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { claimDirectory } from "../../../src/database/embedded/owner.ts";

/** Settings of a primary: it keeps the latest gigabyte of its write-ahead log for a standby that is behind. */
export const PRIMARY_SETTINGS = { wal_level: "replica", wal_keep_size: "1GB" };

export interface Primary {
  readonly directory: string;
  url(): string;
}

/**
 * Copies the files of `primary` into `directory`, in place of older data. Returns the settings with which a server with
 * the copied files follows the primary.
 */
export async function followerOf(
  primary: Primary,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const cluster = join(directory, "cluster");
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  rmSync(cluster, { recursive: true, force: true });
  // The start of a server is refused in a directory that contains files and has no record of an owner (owner.ts).
  claimDirectory(directory).release();
  const client = new pg.Client({ connectionString: primary.url() });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await copyOf(join(primary.directory, "cluster"), cluster);
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    writeAs(cluster, "backup_label", rows[0].labelfile);
    writeAs(cluster, "standby.signal", "");
  } finally {
    await client.end();
  }
  const { host, port, user } = new pg.Client({ connectionString: primary.url() });
  return {
    hot_standby: "on",
    primary_conninfo: `host=${host} port=${port} user=${user} application_name=standby`,
  };
}

/**
 * Copies a running server's files. The server may delete a file before cp reads it, so errors of cp about missing files
 * are ignored.
 */
async function copyOf(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]).catch((error: { stderr?: string }) => {
    const lines = (error.stderr ?? "").trim().split("\n");
    const isWell = lines.every((line) => /No such file or directory/.test(line));
    if (!isWell) throw error;
  });
  for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(to, name), { force: true });
}

function writeAs(cluster: string, name: string, text: string): void {
  const path = join(cluster, name);
  writeFileSync(path, text, { mode: 0o600 });
  const { uid, gid } = statSync(join(cluster, "PG_VERSION"));
  chownSync(path, uid, gid);
}
