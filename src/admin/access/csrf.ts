// Keeps other sites from acting through the operator's browser. A write needs the token that only
// a page which may read our answers can know; and nothing that says it comes from another site
// passes, whatever it carries.
import { Refusal } from "../../http/refusal.ts";
import { type HttpRequest, header } from "../../http/request.ts";
import { type Derive, secretOf } from "./secret.ts";

export const CSRF_HEADER = "x-worker-admin-csrf";

export interface CsrfGuard {
  readonly token: string;
  /** Throws Refusal 403 when a write may come from elsewhere. */
  checkWrite(request: HttpRequest): void;
}

/**
 * The token follows from the login's secret: several admins behind one address that have the same one
 * accept each other's. Without a login it is another one for each.
 */
export function createCsrfGuard(derive: Derive): CsrfGuard {
  const token = derive("csrf");
  const secret = secretOf(token);
  return {
    token,
    checkWrite(request) {
      const site = header(request, "sec-fetch-site");
      if (site !== undefined && site !== "same-origin" && site !== "none") {
        throw refused("another site sent this request");
      }
      checkOrigin(request);
      if (!secret.matches(header(request, CSRF_HEADER) ?? "")) {
        throw refused(`send the csrf_token of /api/session in the header ${CSRF_HEADER}`);
      }
    },
  };
}

/** Throws Refusal 403 for a script or an embedded element of another site; following a link is fine. */
export function checkRead(request: HttpRequest): void {
  const navigates = header(request, "sec-fetch-mode") === "navigate";
  if (header(request, "sec-fetch-site") === "cross-site" && !navigates) {
    throw refused("another site sent this request");
  }
}

function checkOrigin(request: HttpRequest): void {
  const origin = header(request, "origin");
  if (origin === undefined) return;
  const host = hostOf(origin, origin);
  if (host === null || host !== hostOf(`http://${request.host}`, origin)) {
    throw refused(
      "the Origin is not the Host of this request; a proxy in front must pass the Host header on",
    );
  }
}

/** Host and port, without the port that is the default for `origin`'s scheme; null when there is none. */
function hostOf(url: string, origin: string): string | null {
  try {
    const { protocol } = new URL(origin);
    return new URL(url.replace(/^[a-z]+:/i, protocol)).host || null;
  } catch {
    return null;
  }
}

function refused(message: string): Refusal {
  return new Refusal(403, "csrf", message);
}
