// A connection that LISTENs for as long as it is started. The loss of the connection is normal
// weather: it comes back with backoff, and `onReconnect` tells that notifications may be missing.
import pg from "pg";
import { wait } from "../base/clock.ts";
import { messageOf, WorkerError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { backoffDelay } from "../base/retry.ts";
import type { Service } from "../base/service.ts";

export interface ListenerOptions {
  readonly connection: pg.ClientConfig;
  /** Channel → what to do with a payload. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  readonly onReconnect: () => void;
  readonly logger: Logger;
}

const CONNECT_TIMEOUT_MS = 10_000;

export class Listener implements Service {
  readonly #options: ListenerOptions;
  readonly #stop = new AbortController();
  #client: pg.Client | null = null;
  #reconnecting: Promise<void> | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
    await this.#reconnecting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #connect(): Promise<void> {
    const { connection, channels } = this.#options;
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: connection.connectionTimeoutMillis || CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    const lost = (error?: Error): void => {
      if (this.#client !== client) return;
      this.#client = null;
      this.#options.logger.warn({ error: error?.message }, "the notification connection was lost");
      this.#reconnecting ??= this.#reconnect();
    };
    client.on("error", lost);
    client.on("end", () => lost());
    client.on("notification", ({ channel, payload }) => channels[channel]?.(payload ?? ""));
    try {
      await client.connect();
      for (const channel of Object.keys(channels)) {
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
      }
      if (this.#stop.signal.aborted) throw new WorkerError("aborted", "the listener was stopped");
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 0; await wait(backoffDelay(attempt), signal); attempt++) {
      try {
        await this.#connect();
        this.#options.logger.info({}, "the notification connection is back");
        this.#options.onReconnect();
        break;
      } catch (error) {
        this.#options.logger.debug({ error: messageOf(error) }, "cannot listen yet");
      }
    }
    this.#reconnecting = null;
  }
}
