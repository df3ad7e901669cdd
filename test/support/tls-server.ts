// A PostgreSQL server that listens on TCP, by default with encryption and a certificate for "localhost". The
// certificates are for tests only. They are valid for a hundred years.

import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverAccount } from "../../src/database/embedded/account.ts";
import { startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { TEST_SETTINGS } from "./database-server.ts";

export const certificate = (name: string) => join(import.meta.dirname, "certificates", name);

export interface TlsServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts the server. `rules`: the lines of pg_hba.conf for TCP. On the Unix socket, no role needs a password. */
export async function tlsServer(rules: readonly string[], encrypts = true): Promise<TlsServer> {
  const directory = mkdtempSync(join(tmpdir(), "wk-tls-"));
  chmodSync(directory, 0o755);
  const port = await freePort();
  const hba = join(directory, "pg_hba.conf");
  writeFileSync(hba, ["local all all trust", ...rules, ""].join("\n"), { mode: 0o644 });
  const key = join(directory, "server.key");
  copyFileSync(certificate("localhost.key"), key);
  chmodSync(key, 0o600);
  const account = serverAccount();
  if (account !== null) chownSync(key, account.uid, account.gid);
  for (const name of ["localhost.crt", "authority.crt"]) {
    copyFileSync(certificate(name), join(directory, name));
    chmodSync(join(directory, name), 0o644);
  }
  const server = await startEmbeddedServer({
    dataDir: join(directory, "data"),
    settings: {
      ...TEST_SETTINGS,
      hba_file: hba,
      listen_addresses: "127.0.0.1",
      port: String(port),
      ssl: encrypts ? "on" : "off",
      ssl_cert_file: join(directory, "localhost.crt"),
      ssl_key_file: key,
      ssl_ca_file: join(directory, "authority.crt"),
    },
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const holder = net.createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as net.AddressInfo;
  holder.close();
  await once(holder, "close");
  return port;
}
