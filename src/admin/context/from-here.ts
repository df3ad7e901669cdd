// Whether a request comes from this machine, and without a proxy in between: the only one that mode none
// serves. A proxy on this machine connects from here for all its clients, and nginx by default even with a
// Host that is this machine's; but it leaves traces.
import { UNIX_PEER } from "../../http/listen/listen-target.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import { isLoopbackHost, isLoopbackPeer } from "../config/listen-address.ts";

/** Throws Refusal 403 for a request that is not. */
export function assertFromHere(request: HttpRequest): void {
  const { host, remoteAddress, headers, httpVersion } = request;
  // Neither a name alone counts nor an address alone. Only this user may connect to the unix socket.
  const isHere = remoteAddress === UNIX_PEER || isLoopbackPeer(remoteAddress);
  if (!isHere || !isLoopbackHost(host)) throw new Refusal(403, "host", ELSEWHERE);
  const isForwarded = Object.keys(headers).some(isOfProxy);
  if (isForwarded || httpVersion === "1.0") throw new Refusal(403, "proxy", FORWARDED);
}

const ofProxies = new Set(["via", "forwarded", "x-real-ip"]);

const isOfProxy = (name: string) => ofProxies.has(name) || name.startsWith("x-forwarded");

const ELSEWHERE = "this server is for this machine only: use http://127.0.0.1 or localhost";

const FORWARDED =
  "this server has no login, so it serves no proxy: give it one with --auth basic, bearer or header, or connect without a proxy and by HTTP/1.1";
