// Finds the route of a method and a path. If a path has no route for HEAD, its route for GET is used. Paths are
// compared as sent: nothing is decoded before the comparison, so an encoded slash never separates segments. `{name}` in
// a route's path matches one segment, which is decoded after the match. A route without `{name}` takes precedence.

export interface Route {
  readonly method: string;
  readonly path: string;
}

export type Match<R> =
  | { readonly kind: "found"; readonly route: R; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "other_method"; readonly allow: readonly string[] }
  | { readonly kind: "unknown" };

export type Router<R> = (method: string, path: string) => Match<R>;

interface Pattern<R> {
  readonly segments: readonly string[];
  readonly methods: Map<string, R>;
}

const UNKNOWN = { kind: "unknown" } as const;
const NO_PARAMS = Object.freeze({});

/** Creates the router. Throws if a route is duplicated. */
export function createRouter<R extends Route>(routes: readonly R[]): Router<R> {
  const patterns = new Map<string, Pattern<R>>();
  for (const route of routes) {
    const pattern: Pattern<R> = patterns.get(route.path) ?? {
      segments: route.path.split("/"),
      methods: new Map(),
    };
    if (pattern.methods.has(route.method)) {
      throw new Error(`the route ${route.method} ${route.path} is duplicated`);
    }
    pattern.methods.set(route.method, route);
    patterns.set(route.path, pattern);
  }
  const withParams = [...patterns.values()].filter((pattern) => pattern.segments.some(isParam));

  return (method, path) => {
    // Without this test, the path `/jobs/{id}`, if sent literally, would match a route without a value for `{id}`.
    const exact = path.includes("{") ? undefined : patterns.get(path);
    if (exact !== undefined) return pick(exact, method, NO_PARAMS);
    const sent = path.split("/");
    for (const pattern of withParams) {
      const params = matchSegments(pattern.segments, sent);
      if (params !== null) return pick(pattern, method, params);
    }
    return UNKNOWN;
  };
}

function pick<R>(
  pattern: Pattern<R>,
  method: string,
  params: Readonly<Record<string, string>>,
): Match<R> {
  const { methods } = pattern;
  const route = methods.get(method) ?? (method === "HEAD" ? methods.get("GET") : undefined);
  if (route !== undefined) return { kind: "found", route, params };
  const allow = [...methods.keys()];
  if (methods.has("GET")) allow.push("HEAD");
  return { kind: "other_method", allow };
}

function isParam(segment: string): boolean {
  return segment.startsWith("{") && segment.endsWith("}");
}

/** Returns the decoded parameters; null if the path does not match, or a parameter is empty or cannot be decoded. */
function matchSegments(
  pattern: readonly string[],
  sent: readonly string[],
): Record<string, string> | null {
  if (pattern.length !== sent.length) return null;
  const params: Record<string, string> = Object.create(null);
  for (const [index, segment] of pattern.entries()) {
    const given = sent[index] ?? "";
    if (!isParam(segment)) {
      if (segment !== given) return null;
      continue;
    }
    const value = decode(given);
    if (value === null || value === "") return null;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
