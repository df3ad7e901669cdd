// An admin server on a real PostgreSQL and a real socket, and a client that adds as few headers as possible.
import http from "node:http";
import { after } from "node:test";
import type { Pool } from "pg";
import pg from "pg";
import type { LoginTimes } from "../../src/admin/access/own-login.ts";
import type { AuthOptions } from "../../src/admin/config/auth-options.ts";
import {
  type AdminServerConfigBuilder,
  adminServerConfig,
} from "../../src/admin/config/config-builder.ts";
import type { FeedOptions } from "../../src/admin/feed/feed.ts";
import type { RunnerTimes } from "../../src/admin/operations/operation-runner.ts";
import { type AdminServer, createAdminServer } from "../../src/admin/server.ts";
import type { Logger } from "../../src/base/logger.ts";
import type { OnAudit } from "../../src/commands/audit/audit-entry.ts";
import type { Limits } from "../../src/http/bounds/limits.ts";
import type { TestDatabase } from "../support/database.ts";

const endings: (() => Promise<void>)[] = [];
// Hooks run in the order of their creation. This hook must run before the hook of support/database.ts, which drops
// databases. So support/database.ts is imported later, in migratedDatabase().
after(async () => {
  for (const end of endings) await end();
});

/** Returns a new database with the queue's schema. */
export async function migratedDatabase(
  schema?: string,
  extensions?: readonly string[],
): Promise<TestDatabase> {
  const database = await import("../support/database.ts");
  return database.migratedDatabase(schema, extensions);
}

export const PASSWORD = "päss:wörd";
export const TOKEN = "configured-token-4711";

const COOKIE = "session=configured-4711";

export const authOptions = {
  basic: { mode: "basic", username: "operator", password: PASSWORD },
  bearer: { mode: "bearer", token: TOKEN },
  header: { mode: "header", headerName: "X-Queue-Token", token: TOKEN },
  custom: {
    mode: "custom",
    authenticate: ({ headers }) => (headers.cookie === COOKIE ? { name: "ana" } : null),
  },
  none: { mode: "none" },
} as const satisfies Record<string, AuthOptions>;
export type Mode = keyof typeof authOptions;

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

/** The right credentials of each mode. */
export const rightCredentials: Record<Mode, Record<string, string>> = {
  basic: { authorization: basic(`operator:${PASSWORD}`) },
  bearer: { authorization: `Bearer ${TOKEN}` },
  header: { "x-queue-token": TOKEN },
  custom: { cookie: COOKIE },
  none: {},
};

/** Credentials that are almost right. The mode `none` ignores credentials. */
export const wrongCredentials: Record<Mode, Record<string, string>> = {
  basic: { authorization: basic(`operator:${PASSWORD}!`) },
  bearer: { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  header: { "x-queue-token": `${TOKEN}x` },
  custom: { cookie: `${COOKIE}x` },
  none: { authorization: "Bearer nonsense" },
};

const encoded = (text: string) => Buffer.from(text).toString("base64");
const file = (content_type: string, text: string) => ({
  content_type,
  etag: `"${text}"`,
  identity: encoded(text),
  br: encoded(`${text} in br`),
  gzip: encoded(`${text} in gzip`),
});

/** Replaces dist/ui/assets.json, so that these tests need no build. */
export const testAssets = {
  "index.html": file("text/html; charset=utf-8", "page"),
  "admin.css": file("text/css; charset=utf-8", "styles"),
  "admin.js": file("text/javascript; charset=utf-8", "script"),
  "admin_ui.js": file("text/javascript; charset=utf-8", "host"),
  "admin_ui_bg.wasm": file("application/wasm", "wasm"),
  "favicon.svg": file("image/svg+xml", "icon"),
  "fonts/sans-0123.woff2": file("font/woff2", "font"),
};

export interface AdminOptions {
  readonly mode?: Mode;
  readonly readOnly?: boolean;
  readonly basePath?: string;
  readonly limits?: Partial<Limits>;
  readonly feed?: Partial<FeedOptions>;
  readonly login?: Partial<LoginTimes>;
  readonly runner?: RunnerTimes;
  readonly configure?: (builder: AdminServerConfigBuilder) => void;
  readonly logger?: Logger;
  readonly onAudit?: OnAudit;
  /** Default: a new migrated database. */
  readonly url?: string;
  readonly schema?: string;
}

export interface TestAdmin {
  readonly server: AdminServer;
  readonly port: number;
  readonly pool: Pool;
  readonly client: Client;
}

/** Starts an admin server, which is stopped after the tests of the file. */
export async function startAdmin(options: AdminOptions = {}): Promise<TestAdmin> {
  const url = options.url ?? (await migratedDatabase(options.schema)).url;
  const pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 5_000 });
  // pg's end() resolves while sockets are still open. If PostgreSQL stopped then, socket errors would be uncaught.
  const ended: Promise<unknown>[] = [];
  pool.on("connect", (client) => {
    ended.push(new Promise((resolve) => client.once("end", () => resolve(undefined))));
  });
  const builder = adminServerConfig(pool)
    .listenAddr("127.0.0.1:0")
    .schemaName(options.schema ?? "worker")
    .auth(authOptions[options.mode ?? "none"])
    .basePath(options.basePath ?? "/")
    .readOnly(options.readOnly ?? false);
  if (options.logger !== undefined) builder.logger(options.logger);
  options.configure?.(builder);
  if (options.onAudit !== undefined) builder.onAudit(options.onAudit);
  const server = await createAdminServer(builder.build(), {
    assets: async () => testAssets,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.feed === undefined ? {} : { feed: options.feed }),
    ...(options.login === undefined ? {} : { login: options.login }),
    ...(options.runner === undefined ? {} : { runner: options.runner }),
  });
  await server.start();
  endings.push(async () => {
    await server.stop();
    await pool.end();
    await Promise.all(ended);
  });
  const { port } = server.address;
  return { server, port, pool, client: createClient(port) };
}

// biome-ignore lint/suspicious/noExplicitAny: JSON from a server; the tests check its contents
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The parsed text. */
  readonly body: Json;
}

export interface RequestOptions {
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  /** The client's address, in 127.0.0.0/8. */
  readonly from?: string;
}

export interface Client {
  send(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Sends JSON with the CSRF token. A string or Buffer is sent as it is. */
  post(path: string, body: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export function createClient(port: number, host = "127.0.0.1"): Client {
  let token: string | undefined;
  const send: Client["send"] = (method, path, options = {}) => {
    return new Promise((resolve, reject) => {
      const { headers = {}, body, from } = options;
      const request = http.request({
        host,
        port,
        method,
        path,
        agent: false,
        setHost: !("host" in headers),
        headers: body === undefined ? headers : { ...lengthOf(body, headers), ...headers },
        ...(from === undefined ? {} : { localAddress: from }),
      });
      request.once("error", reject);
      request.once("response", (response) => {
        const { statusCode: status = 0 } = response;
        const answer = (text: string) => ({
          status,
          headers: response.headers,
          text,
          get body() {
            return JSON.parse(text);
          },
        });
        if (response.headers["content-type"]?.startsWith("text/event-stream")) {
          resolve(answer("")); // the stream does not end
          request.destroy();
          return;
        }
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.once("end", () => resolve(answer(Buffer.concat(chunks).toString())));
        response.once("error", reject);
      });
      request.end(body);
    });
  };
  return {
    send,
    get: (path) => send("GET", path),
    post: async (path, body) => {
      token ??= (await send("GET", "/api/session")).body["csrf_token"] as string;
      return send("POST", path, {
        headers: { "content-type": "application/json", "x-worker-admin-csrf": token },
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      });
    },
  };
}

function lengthOf(body: string | Buffer, headers: object): Record<string, string> {
  return "transfer-encoding" in headers
    ? {}
    : { "content-length": String(Buffer.byteLength(body)) };
}

/** Returns a logger that adds each line to `lines`. */
export function recordingLogger() {
  const lines: { level: string; fields: Json; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return { logger, lines };
}
