// Parses the text that identifies a database, and finds the secrets in the text. The text has one of libpq's two forms:
// postgresql://user:password@host:port,host/database?… and "host=… port=… dbname=…". The package pg-connection-string
// supports only one host, and not the second form. Error messages contain no values, which may be passwords.
import { InputError } from "../../../base/errors.ts";
import {
  type ConnectionParameter,
  isIgnored,
  isParameter,
  type ParameterSet,
  parameters,
} from "./parameters.ts";

const FORM =
  "the database address is neither postgres://user:password@host:port/database nor host=… port=… dbname=…; set DATABASE_URL or --database-url";

// The message does not repeat the port, which may be a part of a password with an unescaped slash.
const PORT =
  "the port in the database URL is not a number (in a password / is %2F, : is %3A and @ is %40)";

// As above: the name may contain the rest of a password.
const NAME =
  "the name of the database in the database URL contains @ (in a password / is %2F; in a name @ is %40)";

/** Returns the parameters of the text. Throws InputError for an invalid text. */
export function parametersOfText(given: string): ParameterSet {
  const text = given.trim();
  const uri = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text)?.[1];
  const found: ParameterSet = {};
  const afterLogin = uri?.slice(loginEnd(uri) + 1) ?? "";
  if (/^[^?]*@/.test(afterLogin)) throw new InputError(NAME);
  const where = uri === undefined ? "in the connection string" : "in the database URL";
  for (const [name, value] of uri === undefined ? pairsOfWords(text) : pairsOfUri(uri)) {
    setParameter(found, name, value, where);
  }
  return found;
}

/**
 * Sets a parameter in `found`, or adds it to ignoredIn(found) if it has no effect here. An empty `text` sets nothing.
 * `where` is for messages, for example `in the database URL`. Throws InputError for an unknown name or an unsupported
 * value.
 */
export function setParameter(found: ParameterSet, name: string, text: string, where: string): void {
  if (isIgnored(name)) {
    ignoredIn(found).add(`${name} ${where}`);
    return;
  }
  if (!isParameter(name)) {
    const shown = /^\w{1,63}$/.test(name) ? name : "a name";
    throw new InputError(`${shown} ${where} is not a connection parameter of PostgreSQL`);
  }
  const place = `${name} ${where}`;
  const parameter: ConnectionParameter = parameters[name];
  if (parameter.isTuning && !isChoice(parameter, text)) {
    ignoredIn(found).add(place);
    return;
  }
  assertChoice(parameter, text, place);
  if (text !== "") found[name] = { text, where: place };
}

const ignoredOf = new WeakMap<ParameterSet, Set<string>>();

/** Returns the ignored parameters of `found`, such as `schema in the database URL`. */
export function ignoredIn(found: ParameterSet): Set<string> {
  const ignored = ignoredOf.get(found) ?? new Set();
  ignoredOf.set(found, ignored);
  return ignored;
}

function isChoice({ choices, spelling }: ConnectionParameter, given: string): boolean {
  return choices === undefined || choices.includes(spelling?.(given) ?? given);
}

/** Throws InputError for an unsupported value, except for a parameter with `isTuning`, whose value is then ignored. */
export function assertChoice(parameter: ConnectionParameter, given: string, place: string): void {
  const { choices = [], isTuning = false } = parameter;
  if (isTuning || isChoice(parameter, given)) return;
  // As in libpq, an empty value of a parameter without supported values has no effect.
  if (choices.length === 0 && given === "") return;
  if (choices.length === 0) throw new InputError(`${place} is not supported`);
  throw new InputError(`${place} must be one of ${choices.join(", ")}`);
}

const SECRET = /password|secret|_key$/i;

/**
 * Returns the text without its secrets. `isWithout`: whether something was removed. Throws InputError if the text has
 * neither form.
 */
export function withoutSecrets(given: string): { text: string; isWithout: boolean } {
  const text = given.trim();
  const [, head = "", uri] = /^(postgres(?:ql)?:\/\/)(.*)$/s.exec(text) ?? [];
  const open = uri === undefined ? openWords(text) : `${head}${openUri(uri)}`;
  return { text: open, isWithout: open !== text };
}

/** Returns the secrets in a text; none if the text is invalid. A URL's password is returned decoded and as written. */
export function secretsOfText(given: string): string[] {
  const text = given.trim();
  const uri = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text)?.[1];
  try {
    const pairs = uri === undefined ? pairsOfWords(text) : pairsOfUri(uri);
    const [, ...written] = uri?.slice(0, Math.max(0, loginEnd(uri))).split(":") ?? [];
    const secrets = pairs.flatMap(([name, value]) => (SECRET.test(name) ? [value] : []));
    return [...new Set([...secrets, written.join(":")])].filter((secret) => secret !== "");
  } catch {
    return [];
  }
}

function openUri(uri: string): string {
  const at = loginEnd(uri);
  const [user] = uri.slice(0, Math.max(0, at)).split(":");
  const [servers = "", ...query] = uri.slice(at + 1).split("?");
  const shown = query
    .join("?")
    .split("&")
    .filter((part) => !SECRET.test(decode(part.split("=")[0] ?? "")));
  const login = user ? `${user}@` : "";
  return `${login}${servers}${query.length === 0 || shown.length === 0 ? "" : "?"}${shown.join("&")}`;
}

function openWords(text: string): string {
  const pairs = pairsOfWords(text);
  const shown = pairs.filter(([name]) => !SECRET.test(name));
  if (shown.length === pairs.length) return text;
  return shown.map(([name, value]) => `${name}='${value.replaceAll(/[\\']/g, "\\$&")}'`).join(" ");
}

type Pairs = readonly (readonly [name: string, value: string])[];

/** Parses the text after `postgresql://`. */
function pairsOfUri(uri: string): Pairs {
  const at = loginEnd(uri);
  const [, servers = "", path = "", query = ""] =
    /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(uri.slice(at + 1)) ?? [];
  const [user = "", ...password] = uri.slice(0, Math.max(0, at)).split(":");
  const hosts = servers.split(",").map(hostAndPort);
  const listed = (values: readonly string[]) =>
    values.every((one) => one === "") ? "" : values.join(",");
  const pairs: (readonly [string, string])[] = [
    ["user", decode(user)],
    ["password", decode(password.join(":"))],
    ["host", listed(hosts.map(([host]) => host))],
    ["port", listed(hosts.map(([, port]) => port))],
    ["dbname", decode(path)],
  ];
  for (const part of query.split("&").filter((one) => one !== "")) {
    const [name = "", ...value] = part.split("=");
    pairs.push([decode(name), decode(value.join("="))]);
  }
  // The parameters of the query come last, so that they override the five above.
  return pairs.filter(([, value], index) => value !== "" || index >= 5);
}

/**
 * Returns the index of the @ after user and password; -1 if the URL has none. Unlike in libpq, a password may contain
 * an @. The hosts end at the first / or ? after the first @, and the last @ before this end counts.
 */
function loginEnd(uri: string): number {
  const first = uri.search(/[@/]/);
  // Either no @ comes before the first slash, or the first @ is in the query of a URL without user and password.
  if (uri[first] !== "@" || /^[^:@?]*(?::\d*)?\?\w+=/.test(uri)) return -1;
  const end = uri.slice(first).search(/[/?]/);
  return uri.lastIndexOf("@", end < 0 ? uri.length : first + end);
}

function hostAndPort(text: string): readonly [host: string, port: string] {
  const [, six, name = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(text) ?? [];
  if (!/^\d*$/.test(port)) throw new InputError(PORT);
  return [six ?? decode(name), port];
}

/** A "%" that does not begin an escape is kept. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"));
  } catch {
    return text;
  }
}

/** Parses a text such as `host=a port=1 password='it\'s'`. */
function pairsOfWords(text: string): Pairs {
  const pairs: (readonly [string, string])[] = [];
  const word = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s\\']|\\.)*))(?=\s|$)/suy;
  while (word.lastIndex < text.length) {
    const found = word.exec(text);
    if (found === null) throw new InputError(FORM);
    const [, name = "", quoted, plain = ""] = found;
    pairs.push([name, (quoted ?? plain).replaceAll(/\\(.)/gs, "$1")]);
  }
  return pairs;
}
