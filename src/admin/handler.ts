// The admin inside an application's own server: a function that handles the requests under the admin's base path.
//
//   const admin = adminHandler(adminServerConfig(pool).basePath("/queue/").build());
//   app.use("/queue", admin);   // express; or call it from node:http, fastify, …
import type { IncomingMessage, ServerResponse } from "node:http";
import { InputError, messageOf } from "../base/errors.ts";
import type { Mount } from "../http/mount.ts";
import { MIN_SECRET_LENGTH } from "./access/auth-config.ts";
import type { AdminParts } from "./application.ts";
import type { AdminServerConfig } from "./config/config.ts";

/** A request handler that serves the admin. Calls never throw. */
export interface AdminHandler extends AsyncDisposable {
  /** Answers a request. */
  (request: IncomingMessage, response: ServerResponse): void;
  /** The generated password or token, to be shown once; null if none was generated. */
  readonly generatedSecret: string | null;
  /**
   * Ends event streams and downloads, and interrupts running operations. Later requests for streams, downloads and
   * changes are answered with 503. Call close() before you close the application's server.
   */
  close(): Promise<void>;
}

/**
 * Returns a handler that serves the admin in an application's own HTTP server, under the configuration's base path;
 * `listenAddr` is ignored. Mount the handler before body parsers. Throws InputError for a configured secret or metrics
 * token of fewer than 12 characters.
 */
export function adminHandler(config: AdminServerConfig): AdminHandler {
  return createAdminHandler(config);
}

export function createAdminHandler(
  config: AdminServerConfig,
  parts: AdminParts = {},
): AdminHandler {
  if (config.hasShortSecret) {
    const message = `must have at least ${MIN_SECRET_LENGTH} characters in an application's server`;
    const path = config.auth.hasShortSecret ? "auth" : "metricsToken";
    throw new InputError([{ path, message }]);
  }
  const starting = start(config, parts);
  // If the start fails, close() rejects with the same error.
  starting.catch((error: unknown) => {
    config.logger.error(
      { error: messageOf(error) },
      "the admin could not start; its requests fail",
    );
  });
  const close = async () => (await starting).close();
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    starting.then(
      ({ mount }) => mount.answer(request, response),
      (error: unknown) => response.destroy(error as Error),
    );
  };
  return Object.assign(handler, {
    generatedSecret: config.auth.generatedSecret,
    close,
    [Symbol.asyncDispose]: close,
  });
}

async function start(
  config: AdminServerConfig,
  parts: AdminParts,
): Promise<{ mount: Mount; close: () => Promise<void> }> {
  // Loaded on demand, because most processes of the library serve no admin.
  const [{ createApplication }, { createMount }] = await Promise.all([
    import("./application.ts"),
    import("../http/mount.ts"),
  ]);
  const application = await createApplication(config, parts);
  const mount = createMount(application.exchange, application.limits);
  await application.open();
  const close = () => {
    application.drain();
    mount.close();
    return application.close();
  };
  return { mount, close };
}
