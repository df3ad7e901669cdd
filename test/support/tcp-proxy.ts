// A TCP proxy before PostgreSQL that can do what networks do:
//
//   await using proxy = await tcpProxy(database.url);
//   … connect to proxy.url …
//   proxy.mute();     nothing passes and nothing is closed, as if a cable were pulled
//   proxy.resume();   what was held back arrives, and all goes on
//   tcpProxy(url, { delayMs: 13 })   a round trip takes 26 ms
//   proxy.reset();    every connection is cut at once (RST); new ones are welcome
//   proxy.cutAnswer("commit");   what is asked arrives; the first answer that says so is cut off instead
import { once } from "node:events";
import net from "node:net";
import pg from "pg";

export interface TcpProxy extends AsyncDisposable {
  /** The database behind, by way of the proxy. */
  readonly url: string;
  /** How many connections have been made so far. */
  readonly accepted: number;
  /**
   * `all`: also those that come later, which are accepted and hear nothing. `established`: only those
   * that are there, as when a firewall has forgotten them. Default `all`.
   */
  mute(which?: "all" | "established"): void;
  resume(): void;
  reset(): void;
  /** The server has done what the answer with this text tells (such as `INSERT`), and nobody hears of it. */
  cutAnswer(text: string): void;
  close(): Promise<void>;
}

/** Forwards to the server of `databaseUrl`, whether it listens on TCP or on a unix socket. */
export async function tcpProxy(
  databaseUrl: string,
  { delayMs = 0 }: { readonly delayMs?: number } = {},
): Promise<TcpProxy> {
  const { host, port, user, database } = new pg.Client({ connectionString: databaseUrl });
  const isPath = host.startsWith("/");
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  let [mutesNew, accepted] = [false, 0];
  let cutAt: string | null = null;

  const server = net.createServer({ pauseOnConnect: true }, (front) => {
    const back = isPath ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    const pair = [front, back] as const;
    pairs.add(pair);
    accepted += 1;
    for (const [from, to] of [pair, [back, front] as const]) {
      from.setNoDelay(true);
      from.on("data", (chunk) => {
        if (from === back && cutAt !== null && chunk.includes(cutAt)) {
          cutAt = null;
          front.resetAndDestroy();
          return;
        }
        // Timers of the same length end in their order.
        if (delayMs === 0) to.write(chunk);
        else setTimeout(() => to.write(chunk), delayMs);
      });
      from.on("error", () => {});
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    setMute(pair, mutesNew);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const cut = () => {
    for (const [front, back] of pairs) {
      front.resetAndDestroy();
      back.destroy();
    }
  };
  const close = async () => {
    cut();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  const address = server.address() as net.AddressInfo;
  return {
    url: `postgres://${encodeURIComponent(user ?? "postgres")}@127.0.0.1:${address.port}/${encodeURIComponent(database ?? "postgres")}`,
    get accepted() {
      return accepted;
    },
    mute(which = "all") {
      mutesNew = which === "all";
      for (const pair of pairs) setMute(pair, true);
    },
    resume() {
      mutesNew = false;
      for (const pair of pairs) setMute(pair, false);
    },
    reset: cut,
    cutAnswer(text) {
      cutAt = text;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function setMute(pair: readonly net.Socket[], isMute: boolean): void {
  for (const socket of pair) {
    if (isMute) socket.pause();
    else socket.resume();
  }
}
