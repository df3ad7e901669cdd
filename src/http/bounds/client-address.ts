// Determines the address of a request's client. The headers X-Forwarded-For and Forwarded list the addresses (hops)
// from which the request came. These headers are used only if the connection's peer is a trusted proxy.
import { BlockList, isIP, SocketAddress } from "node:net";
import { InputError } from "../../base/errors.ts";
import { UNIX_PEER } from "../listen/listen-target.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the client's address from the connection's peer and the request's headers. */
export type ClientAddress = (peer: string, headers: Headers) => string;

// The number of hops that are read, from the right end of a header. Chains of proxies are short, so this is enough.
const MAX_HOPS = 32;

/**
 * Returns the function that determines clients. `trusted`: networks such as `10.0.0.0/8`, single addresses, or `unix:`
 * for peers on a unix socket. Throws InputError if an element is invalid.
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return plainAddress;
  const isProxy = trustedPeer(trusted);
  return (given, headers) => {
    const peer = plainAddress(given);
    if (!isProxy(peer)) return peer;
    const chains = [forwardedFor(headers), forwardedAddresses(headers)].filter(
      (chain) => chain.length > 0,
    );
    const [client = peer, other = client] = chains.map((chain) => clientIn(chain, peer, isProxy));
    // A proxy writes one of the two headers, and passes on the other header, which the client may have forged. If the
    // two headers name different clients, neither is used.
    return client === other ? client : peer;
  };
}

/** Returns whether an address is that of a trusted proxy. */
export type TrustedPeer = (address: string) => boolean;

/** Returns a function that recognises trusted proxies. `trusted` and errors: as for clientAddress(). */
export function trustedPeer(trusted: readonly string[]): TrustedPeer {
  const proxies = networksOf(trusted.filter((one) => one !== UNIX_PEER));
  const trustsUnix = trusted.includes(UNIX_PEER);
  return (given) => {
    const address = plainAddress(given);
    if (address === UNIX_PEER) return trustsUnix;
    return isIP(address) !== 0 && proxies.check(address, familyOf(address));
  };
}

/**
 * Returns the rightmost hop that is not a trusted proxy; the leftmost hop if all hops are trusted. A hop that is not an
 * address ends the search.
 */
function clientIn(
  chain: readonly string[],
  peer: string,
  isProxy: (address: string) => boolean,
): string {
  let client = peer;
  for (const text of chain.toReversed()) {
    const hop = addressOf(text);
    if (hop === null) return client;
    client = hop;
    if (!isProxy(hop)) return client;
  }
  return client;
}

function forwardedFor(headers: Headers): string[] {
  return lastElements(headers["x-forwarded-for"]);
}

/** Reads the header Forwarded (RFC 7239): `for=192.0.2.60;proto=http, for="[2001:db8::17]:4711"`. */
function forwardedAddresses(headers: Headers): string[] {
  return lastElements(headers["forwarded"]).map((element) => {
    for (const pair of element.split(";")) {
      const mark = pair.indexOf("=");
      const name = pair.slice(0, Math.max(mark, 0)).trim();
      if (name.toLowerCase() === "for") return unquote(pair.slice(mark + 1).trim());
    }
    return "";
  });
}

function unquote(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1) : value;
}

/** Each proxy adds its element at the end of the header. */
function lastElements(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  if (text === "") return [];
  return text
    .split(",")
    .slice(-MAX_HOPS)
    .map((element) => element.trim());
}

const MAX_ADDRESS_LENGTH = 100;

/** Returns the address in a text such as `::1`, `[::1]:80` or `10.0.0.1:80`; null for any other text. */
function addressOf(text: string): string | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+)(?::\d+)?)$/.exec(text) ?? [];
  const address = plainAddress(bracketed ?? dotted ?? text);
  return isIP(address) === 0 ? null : address;
}

const MAPPED = /^::ffff:(?=\d+\.)/;

/**
 * Returns an address in its standard spelling. An IPv4 address that is written as IPv6 becomes IPv4. An IPv6 address is
 * shortened, in lower case, and without an interface name.
 */
export function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  return new SocketAddress({ address, family: "ipv6" }).address.replace(MAPPED, "");
}

/**
 * Returns the network that counts as one client: the /64 of an IPv6 address, or any other address by itself. A
 * subscriber usually has a whole /64.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  if (tail !== undefined) {
    while (groups.length + rest.length < 8) groups.push("0");
  }
  return [...groups, ...rest].slice(0, 4).join(":");
}

function networksOf(cidrs: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", bits, more] = cidr.split("/");
    const longest = isIP(address) === 6 ? 128 : 32;
    // `::ffff:10.0.0.0/8` would cover every IPv4 address, which is hardly intended.
    const least = isIP(plainAddress(address)) === isIP(address) ? 0 : 96;
    const prefix =
      bits === undefined ? longest : Number(/^\d{1,3}$/.test(bits) ? bits : Number.NaN);
    if (isIP(address) === 0 || more !== undefined || !(prefix >= least && prefix <= longest)) {
      const message = `"${cidr}" is not a network such as 10.0.0.0/8 or fd00::/8, an address, or unix:`;
      throw new InputError([{ path: "trustedProxies", message }]);
    }
    networks.addSubnet(address, prefix, familyOf(address));
  }
  return networks;
}

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");
