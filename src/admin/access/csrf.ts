// Prevents other sites from using an admin through the browser of its user. A write needs a token that other sites
// cannot read.
import { Refusal } from "../../http/refusal.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import { CSRF_HEADER } from "./auth-config.ts";
import { type DeriveSecret, secretOf } from "./secret.ts";

export interface CsrfGuard {
  readonly token: string;
  /** Throws Refusal 403 for a write from another origin, or without the right token. */
  checkWrite(request: HttpRequest): void;
}

/** Creates a guard. Admins with the same login secret have the same token, so they can serve one address. */
export function createCsrfGuard(derive: DeriveSecret): CsrfGuard {
  const token = derive("csrf");
  const secret = secretOf(token);
  return {
    token,
    checkWrite(request) {
      const site = header(request, "sec-fetch-site");
      if (site !== undefined && site !== "same-origin" && site !== "none") {
        throw csrfRefusal("another origin sent this request");
      }
      checkOrigin(request);
      if (!secret.matches(header(request, CSRF_HEADER) ?? "")) {
        throw csrfRefusal(`send the csrf_token of /api/session in the header ${CSRF_HEADER}`);
      }
    },
  };
}

/**
 * Throws Refusal 403 if a page of another site sent the request, for example from a script or for an image. A
 * navigation, such as a followed link, is allowed.
 */
export function checkRead(request: HttpRequest): void {
  const navigates = header(request, "sec-fetch-mode") === "navigate";
  if (header(request, "sec-fetch-site") === "cross-site" && !navigates) {
    throw csrfRefusal("another site sent this request");
  }
}

function checkOrigin(request: HttpRequest): void {
  const origin = header(request, "origin");
  if (origin === undefined) return;
  const host = hostOf(origin, origin);
  if (host === null || host !== hostOf(`http://${request.host}`, origin)) {
    throw csrfRefusal(
      "the Origin of this request differs from its Host; a proxy in front must forward the Host header",
    );
  }
}

/** Returns host and port of `url`, without the default port of `origin`'s scheme; null if either URL is invalid. */
function hostOf(url: string, origin: string): string | null {
  try {
    const { protocol } = new URL(origin);
    return new URL(url.replace(/^[a-z]+:/i, protocol)).host || null;
  } catch {
    return null;
  }
}

function csrfRefusal(message: string): Refusal {
  return new Refusal(403, "csrf", message);
}
