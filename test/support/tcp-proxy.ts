// A TCP proxy in front of PostgreSQL that simulates network faults:
//
//   await using proxy = await tcpProxy(database.url);
//   … connect to proxy.url …
//   proxy.mute();     nothing passes, as if a cable were pulled
//   proxy.resume();   buffered data arrives
//   proxy.of("worker heartbeat").reset();   resets only the connections with this application_name
//
// tcp-proxy/faults.ts has all faults. of(), cutBehind() and cutAnswer() need PostgreSQL's protocol without encryption.
import { once } from "node:events";
import net from "node:net";
import pg from "pg";
import { Faults } from "./tcp-proxy/faults.ts";
import { Link } from "./tcp-proxy/link.ts";

export class TcpProxy extends Faults implements AsyncDisposable {
  readonly #server = net.createServer({ allowHalfOpen: true }, (front) => this.#accept(front));
  readonly #links: Set<Link>;
  readonly #target: pg.Client;
  readonly #aimed = new Map<string, Faults>();

  constructor(target: pg.Client, links = new Set<Link>()) {
    super(links, null);
    this.#links = links;
    this.#target = target;
  }

  /** The URL of the database through the proxy, without the password. */
  get url(): string {
    const { user, database } = this.#target;
    const { port } = this.#server.address() as net.AddressInfo;
    return `postgres://${encodeURIComponent(user ?? "postgres")}@127.0.0.1:${port}/${encodeURIComponent(database ?? "postgres")}`;
  }

  /** Returns the Faults of the connections with this `application_name`. */
  of(application: string): Faults {
    const aimed = this.#aimed.get(application) ?? new Faults(this.#links, application);
    this.#aimed.set(application, aimed);
    return aimed;
  }

  override calm(): void {
    super.calm();
    for (const faults of this.#aimed.values()) faults.calm();
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.reset();
    await once(this.#server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #accept(front: net.Socket): void {
    const { host, port } = this.#target;
    const place = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const back = net.connect({ ...place, allowHalfOpen: true });
    const link = new Link(front, back, {
      onKnown: (one) => {
        for (const faults of this.#aimed.values()) faults.meet(one);
      },
      onClosed: (one) => this.#links.delete(one),
      cutIn: (...passing) => {
        for (const faults of [this, ...this.#aimed.values()]) {
          const bytes = faults.cutIn(...passing);
          if (bytes !== null) return bytes;
        }
        return null;
      },
    });
    this.#links.add(link);
    this.meet(link);
  }
}

/** Starts a proxy on 127.0.0.1 for the server of `databaseUrl`. */
export async function tcpProxy(
  databaseUrl: string,
  { delayMs = 0 }: { readonly delayMs?: number } = {},
): Promise<TcpProxy> {
  const proxy = new TcpProxy(new pg.Client({ connectionString: databaseUrl }));
  if (delayMs > 0) proxy.delay(delayMs);
  await proxy.listen();
  return proxy;
}
