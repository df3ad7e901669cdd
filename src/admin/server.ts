// The admin on a server of its own, as a service.
import type { Service } from "../base/service.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import { type AdminParts, createApplication } from "./application.ts";
import type { AdminServerConfig } from "./config/config.ts";
import { authority, loopbackOf } from "./config/listen-address.ts";

/** An admin server: start() resolves once it listens, stop() ends what is under way. */
export interface AdminServer extends Service {
  /** Where it listens; known after start(). */
  readonly address: { readonly host: string; readonly port: number };
  /** What to open in a browser; known after start(). */
  readonly url: string;
  /** The password or token that was generated, to be shown once; null when one was configured. */
  readonly generatedSecret: string | null;
}

/** A server that is not running yet. */
export async function createAdminServer(
  config: AdminServerConfig,
  parts: AdminParts = {},
): Promise<AdminServer> {
  const { listen, auth, basePath } = config;
  const application = await createApplication(config, parts);
  const { exchange, limits } = application;
  const http = createHttpServer({ ...listen, ...exchange, limits });
  const stop = async () => {
    application.drain();
    await http.stop();
    await application.close();
  };
  return {
    start: async () => {
      await http.start();
      await application.open();
      warnInTheOpen(config, http);
    },
    stop,
    [Symbol.asyncDispose]: stop,
    get address() {
      return http.address;
    },
    get url() {
      return urlOf(http, basePath);
    },
    generatedSecret: auth.generatedSecret,
  };
}

/** Starts a server and gives it back running; stop() ends it. */
export async function serve(config: AdminServerConfig): Promise<AdminServer> {
  const server = await createAdminServer(config);
  await server.start();
  return server;
}

/** What travels here is not encrypted: somebody in front of it has to do that. */
function warnInTheOpen({ listen, trustedProxies, logger }: AdminServerConfig, http: HttpServer) {
  if (loopbackOf(listen) !== null || trustedProxies.length > 0) return;
  logger.warn(
    { listen: authority(http.address) },
    `the admin listens on ${authority(http.address)} without TLS: logins can be read on the way; put a proxy with TLS in front and name it with --trusted-proxy, or listen on 127.0.0.1`,
  );
}

/** A wildcard address cannot be opened; this machine's loopback can. */
function urlOf({ address: { host, port } }: HttpServer, basePath: string): string {
  const wildcards: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return `http://${authority({ host: wildcards[host] ?? host, port })}${basePath}`;
}
