// The admin on its own HTTP server, as a service.
import { InputError } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import { type BoundAddress, targetText } from "../http/listen/listen-target.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import { type AdminParts, createApplication } from "./application.ts";
import { warnOfExpiry, watchExpiry } from "./certificate-expiry.ts";
import { type AdminServerConfig, OPEN } from "./config/config.ts";
import { loopbackOf } from "./config/listen-address.ts";

/**
 * An admin server. start() resolves when the server listens. stop() waits for requests in progress, up to a time limit.
 */
export interface AdminServer extends Service {
  /** The address at which the server listens. Available after start(). */
  readonly address: BoundAddress;
  /**
   * The URL to open in a browser. For a unix socket: `unix:/path`, or `unix:/path:/base/` with a base path. Available
   * after start().
   */
  readonly url: string;
  /** The generated password or token, to be shown once; null if none was generated. */
  readonly generatedSecret: string | null;
  /**
   * Reads the certificate's files again; does nothing without TLS. Open connections stay open. If the new certificate
   * or key is invalid, throws InputError, and the server keeps the old pair.
   */
  reloadCertificate(): void;
}

/** Creates a server that is not running yet. */
export async function createAdminServer(
  config: AdminServerConfig,
  parts: AdminParts = {},
): Promise<AdminServer> {
  const { listen, auth, certificate, logger } = config;
  const application = await createApplication(config, parts);
  const { exchange, limits } = application;
  const http = createHttpServer({ listen, certificate, ...exchange, limits });
  let endWatch = () => {};
  const stop = async () => {
    endWatch();
    application.drain();
    await http.stop();
    await application.close();
  };
  return {
    start: async () => {
      await http.start();
      if (isOpenToOthers(config, http)) {
        await http.stop();
        throw new InputError([{ path: "auth", message: OPEN }]);
      }
      await application.open();
      warnWithoutTls(config, http);
      if (certificate !== null) endWatch = watchExpiry(certificate, logger);
    },
    stop,
    [Symbol.asyncDispose]: stop,
    get address() {
      return http.address;
    },
    get url() {
      return urlOf(http, config);
    },
    generatedSecret: auth.generatedSecret,
    reloadCertificate() {
      if (certificate === null) return;
      certificate.reload();
      http.renewCertificate();
      logger.info({ expires: certificate.expiresAt }, "the certificate was reloaded");
      warnOfExpiry(certificate, logger);
    },
  };
}

/**
 * Whether a server without a login listens on an inherited descriptor (`fd:3`) that others can reach. The address of a
 * descriptor is known only after the start. An inherited unix socket counts as reachable, because its permissions are
 * unknown.
 */
function isOpenToOthers({ listen, auth }: AdminServerConfig, http: HttpServer): boolean {
  return (
    auth.mode === "none" && "fd" in listen && (http.isUnix || loopbackOf(http.address) === null)
  );
}

function warnWithoutTls(config: AdminServerConfig, { address, isUnix }: HttpServer): void {
  const { certificate, trustedProxies, logger } = config;
  if (isUnix || certificate !== null || trustedProxies.length > 0) return;
  if (loopbackOf(address) !== null) return;
  const where = targetText(address);
  logger.warn(
    { listen: where },
    `the admin listens on ${where} without TLS, so logins can be intercepted; set a certificate with --tls-cert, or use a proxy with TLS and name it with --trusted-proxy, or listen on 127.0.0.1`,
  );
}

/** Replaces a wildcard address, which a browser cannot open, by the loopback address. */
function urlOf({ address: { host, port }, isUnix }: HttpServer, config: AdminServerConfig): string {
  const { basePath, certificate } = config;
  if (isUnix) {
    const socket = host.startsWith("/") ? `unix:${host}` : host;
    return basePath === "/" ? socket : `${socket}:${basePath}`;
  }
  const scheme = certificate === null ? "http" : "https";
  const wildcards: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return `${scheme}://${targetText({ host: wildcards[host] ?? host, port })}${basePath}`;
}
