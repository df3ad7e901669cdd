// Starts a primary and its standby. Clients connect with one URL of both servers. They reach the primary through a
// proxy, and the standby directly.
import { type TcpProxy, tcpProxy } from "../../../support/tcp-proxy.ts";
import { freePort } from "../../../support/tls-server.ts";
import { waitUntil } from "../../../support/until.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import { PRIMARY_SETTINGS } from "../../field/standby.ts";

export interface Pair {
  readonly primary: Server;
  readonly standby: Server;
  /** The proxy through which clients reach the primary. */
  readonly wire: TcpProxy;
  /** Returns a URL of both servers: clients connect to the one that accepts writes. */
  url(database: string): string;
  /**
   * Makes the replication synchronous. After the promise has resolved, the primary acknowledges a commit only when the
   * standby has written it.
   */
  synchronous(): Promise<void>;
  /** Resolves when the standby has replayed all that the primary had written when this was called. */
  caughtUp(): Promise<void>;
}

export async function pairOf(field: Field): Promise<Pair> {
  const primary = await field.server({ port: await freePort(), settings: PRIMARY_SETTINGS });
  const standby = await field.server({
    port: await freePort(),
    settings: PRIMARY_SETTINGS,
    standbyOf: primary,
  });
  const caughtUp = async () => {
    const [row] = await primary.sql<{ lsn: string }>("select pg_current_wal_lsn()::text as lsn");
    await waitUntil("the standby has replayed all changes", async () => {
      const text = "select pg_last_wal_replay_lsn() >= $1::pg_lsn as is_there";
      const [there] = await standby.sql<{ is_there: boolean }>(text, [row?.lsn]);
      return there?.is_there === true;
    });
  };
  await caughtUp();
  const wire = await tcpProxy(primary.url());
  field.defer(() => wire.close());
  return {
    ...{ primary, standby, caughtUp, wire },
    url: (database) => severalHosts([wire.url, standby.url()], database),
    async synchronous() {
      // This is set only on the primary. A promoted standby has no standby of its own, so with this setting it would
      // never acknowledge a commit.
      await primary.sql("alter system set synchronous_standby_names = '*'");
      await primary.sql("select pg_reload_conf()");
      const text = "select from pg_stat_replication where sync_state = 'sync'";
      await waitUntil(
        "the standby is synchronous",
        async () => (await primary.sql(text)).length > 0,
      );
    },
  };
}

/** Returns one URL with the servers of all `urls`, in the same order. */
export function severalHosts(urls: readonly string[], database: string): string {
  const hosts = urls.map((url) => new URL(url).host).join(",");
  return `postgres://postgres@${hosts}/${database}?target_session_attrs=read-write`;
}
