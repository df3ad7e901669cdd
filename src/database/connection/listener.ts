// A connection that receives notifications (LISTEN) from start() to stop(). After a loss, a new connection replaces it,
// and `onReconnect` is called, because notifications that were sent in between are lost. The connection is checked
// every 10 to 15 s: a connection that only listens does not notice an unreachable server.
//
//   new ──start()──▶ listening ──error, end, failed check──▶ reconnecting ──▶ listening (onReconnect)
//                        └────────────────stop()──▶ stopped ◀──stop()──┘
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Outage } from "../../base/outage.ts";
import { backoffDelay } from "../../base/retry.ts";
import type { Service } from "../../base/service.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import { Client, type ServerConfig } from "./client.ts";

export interface ListenerOptions {
  readonly connection: ServerConfig;
  /** Maps each channel to the function that receives the payloads of its notifications. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  readonly onReconnect: () => void;
  readonly outage: Outage;
  readonly timing?: Partial<ListenerTiming>;
}

export interface ListenerTiming {
  /** The shortest pause before a regular check, in milliseconds; the longest is 1.5 times as long. Default 10,000. */
  readonly proofPauseMs: number;
  /** How long a check, or a statement of a new connection, may take, in milliseconds. Default 4,000. */
  readonly answerTimeoutMs: number;
  /** Resolves to true if the time has passed, to false if `signal` aborted. Default: wait() of clock.ts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
}

const CONNECTION = "notifications";
const CONNECT_TIMEOUT_MS = 10_000;
const ORDINARY: ListenerTiming = { proofPauseMs: 10_000, answerTimeoutMs: 4_000, wait };

export class Listener implements Service {
  readonly #options: ListenerOptions;
  readonly #timing: ListenerTiming;
  readonly #stop = new AbortController();
  /** The connection that listens. */
  #client: Client | null = null;
  #connecting: Client | null = null;
  #started: Promise<void> | null = null;
  #proof: Promise<void> | null = null;
  #proofs: Promise<void> | null = null;
  #reconnecting: Promise<void> | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#timing = { ...ORDINARY, ...options.timing };
  }

  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    if (this.#stop.signal.aborted) throw stoppedError();
    await this.#connect();
    this.#proofs = this.#proveRegularly();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    const client = this.#client;
    this.#client = null;
    // Otherwise, stop() would wait for a server that does not respond.
    this.#connecting?.abandon();
    await this.#started?.catch(() => {});
    await client?.end().catch(() => {});
    await this.#reconnecting;
    await this.#proofs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Checks the connection now, if there is one. If the check fails, the listener reconnects. Never rejects. */
  async prove(): Promise<void> {
    if (this.#client !== null) await this.#ask(this.#client);
  }

  async #proveRegularly(): Promise<void> {
    const { proofPauseMs, wait } = this.#timing;
    // The pause is random, so that many workers do not check their connections at the same time.
    const pauseMs = (): number => proofPauseMs * (1 + Math.random() / 2);
    while (await wait(pauseMs(), this.#stop.signal)) {
      if (this.#client !== null) await this.#ask(this.#client);
    }
  }

  /** Concurrent callers share one check. */
  #ask(client: Client): Promise<void> {
    this.#proof ??= this.#checkAnswer(client.prove())
      .catch((error: unknown) => this.#onLost(client, error))
      .finally(() => {
        this.#proof = null;
      });
    return this.#proof;
  }

  async #checkAnswer(answer: Promise<unknown>): Promise<void> {
    const { answerTimeoutMs, wait } = this.#timing;
    const answered = new AbortController();
    const late = wait(answerTimeoutMs, answered.signal).then((isLate) => {
      if (isLate) throw new Error(`no answer within ${answerTimeoutMs} ms`);
    });
    try {
      await Promise.race([answer, late]);
    } finally {
      answered.abort();
    }
  }

  async #connect(): Promise<void> {
    const { connection, channels } = this.#options;
    const client = new Client({
      ...connection,
      connectionTimeoutMillis: connection.connectionTimeoutMillis || CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on("error", (error) => this.#onLost(client, error));
    client.on("end", () => this.#onLost(client, new Error("the connection was closed")));
    client.on("notification", ({ channel, payload }) => channels[channel]?.(payload ?? ""));
    this.#connecting = client;
    try {
      await client.connect();
      // Without this, the server may close the connection between two checks.
      await this.#checkAnswer(client.query("set idle_session_timeout = 0"));
      for (const channel of Object.keys(channels)) {
        await this.#checkAnswer(client.query(`listen ${client.escapeIdentifier(channel)}`));
      }
      this.#stop.signal.throwIfAborted();
    } catch (error) {
      await client.end().catch(() => {});
      throw this.#stop.signal.aborted ? stoppedError() : explainDatabaseError(error, "");
    } finally {
      this.#connecting = null;
    }
    this.#client = client;
  }

  /** Begins to reconnect. Further reports of the same loss are ignored. */
  #onLost(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#options.outage.reportLost(CONNECTION, explainDatabaseError(error, ""));
    void client.end().catch(() => {});
    this.#reconnecting = this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { outage, onReconnect } = this.#options;
    const { signal } = this.#stop;
    // Waits first, so that the connections for jobs reconnect before this one.
    await outage.pause(backoffDelay(0), signal, this.#timing.wait);
    const isBack = await outage.runWithRetries(
      CONNECTION,
      async (succeeded) => {
        await outage.tryConnect(() => this.#connect());
        succeeded();
      },
      { signal, wait: this.#timing.wait },
    );
    if (isBack) onReconnect();
  }
}

function stoppedError(): WorkerError {
  return new WorkerError("aborted", "the listener was stopped");
}
