// An embedded server that requires a password from every role but its superuser. Other embedded servers require none.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { TEST_SETTINGS } from "./database-server.ts";

export interface PasswordServer extends AsyncDisposable {
  /** Returns the URL for `user` and the database `postgres`, without a password unless one is given. */
  url(user: string, password?: string): string;
  readonly host: string;
  /** Runs SQL as the superuser. */
  sql(text: string): Promise<void>;
}

/**
 * Starts the server with the roles `scram`, `md5` and `plain`, whose password is `secret`. The name of a role is also
 * the method of its login. With `plain`, the client sends the password as clear text.
 */
export async function passwordServer(): Promise<PasswordServer> {
  const directory = mkdtempSync(join(tmpdir(), "wk-password-"));
  chmodSync(directory, 0o755);
  const hba = join(directory, "pg_hba.conf");
  const rules = ["postgres trust", "md5 md5", "plain password", "all scram-sha-256"];
  writeFileSync(hba, rules.map((rule) => `local all ${rule}\n`).join(""), { mode: 0o644 });
  const settings = { ...TEST_SETTINGS, hba_file: hba };
  const server = await startEmbeddedServer({ dataDir: join(directory, "data"), settings });
  const sql = async (text: string) => {
    const client = new pg.Client({ connectionString: server.url() });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  await sql(`
    create role scram login password 'secret';
    create role plain login password 'secret';
    set password_encryption = 'md5';
    create role md5 login password 'secret'`);
  const { host, port } = server.connection;
  return {
    host,
    sql,
    url: (user, password) => {
      const login = password === undefined ? user : `${user}:${password}`;
      return `postgresql://${login}@/postgres?host=${encodeURIComponent(host)}&port=${port}`;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
