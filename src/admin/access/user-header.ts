// The header in which a trusted proxy names the user of a request. The name is shown and logged, but is not a login.
import type { TrustedPeer } from "../../http/bounds/client-address.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import { nameProblem } from "./user-name.ts";

/**
 * Returns the user's name in a request from a trusted proxy. Returns null if the request is not from a trusted proxy or
 * has no name. Throws Refusal 400 if the name is invalid or the header occurs more than once.
 */
type UserLabel = (request: HttpRequest) => string | null;

export function createUserLabel(headerName: string, isTrusted: TrustedPeer): UserLabel {
  return ({ remoteAddress, incoming }) => {
    if (!isTrusted(remoteAddress)) return null;
    const values = incoming.headersDistinct[headerName] ?? [];
    const [value = ""] = values;
    if (values.length > 1)
      throw invalid(headerName, "has several values: the proxy must overwrite the client's header");
    if (value === "") return null;
    const name = utf8Of(value);
    const problem = name === null ? "is not UTF-8" : nameProblem(name);
    if (problem !== null) throw invalid(headerName, problem);
    return name;
  };
}

/** Decodes a header's value as UTF-8; null if it is not UTF-8. Each character of `value` is one byte of the header. */
function utf8Of(value: string): string | null {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(Buffer.from(value, "latin1"));
  } catch {
    return null;
  }
}

function invalid(headerName: string, problem: string): Refusal {
  return new Refusal(400, "bad_request", `the user name in the header ${headerName} ${problem}`);
}
