// An extension adds objects to Graphile Worker's schema. An extension is a row in index.ts and one SQL file for each
// version. Each part of a file begins with one of these lines:
//
//   --- create <object>   the part is run if the schema has no object of that name
//   --- change <object>   the part is run in the upgrade to the file's version, and whenever the object is created
//
// If another program, such as Graphile Worker's Rust port, has created some of the objects, no `change` is run on these
// objects.

export interface Extension extends ExtensionRow {
  /** The newest version. */
  readonly version: number;
  /** The names of the extension's objects. The first object shows whether the extension exists. */
  readonly objects: readonly string[];
  /** The parts of each step. `parts[0]` creates version 1. */
  readonly parts: readonly (readonly Part[])[];
}

export interface ExtensionRow {
  /** The name in the ledger of extensions (the table `_private_extensions`). */
  readonly name: string;
  /** The features that need the extension, as a plural noun, such as "worker heartbeats". */
  readonly provides: string;
  /**
   * `always`: every migration adds the extension. `on request`: a migration adds the extension only if the extension is
   * requested, is in the ledger, or is needed by such an extension.
   */
  readonly added: "always" | "on request";
  /** The names of other extensions that this extension needs. */
  readonly needs?: readonly string[];
  /** The SQL of each version. `:schema` is the quoted schema. */
  readonly steps: readonly string[];
}

interface Part {
  readonly does: "create" | "change";
  readonly object: string;
  readonly sql: string;
}

/**
 * The versions in the ledger of extensions, by name; empty if there is no ledger. Version 0: another program has
 * created objects of the extension. null: this role may not read the ledger.
 */
export type Versions = ReadonlyMap<string, number> | null;

export function extension(row: ExtensionRow): Extension {
  const parts = row.steps.map(partsOf);
  const created = parts.flat().filter(({ does }) => does === "create");
  const objects = created.map(({ object }) => object);
  return { ...row, version: parts.length, objects, parts };
}

function partsOf(step: string): Part[] {
  const [, ...found] = step.split(/^--- (create|change) (\w+)$/m);
  const parts: Part[] = [];
  for (let at = 0; at < found.length; at += 3) {
    const [does, object = "", sql = ""] = found.slice(at, at + 3);
    parts.push({ does: does as Part["does"], object, sql });
  }
  return parts;
}

/** Returns the extensions that a migration must add or upgrade. */
export function unfinishedExtensions(
  registry: readonly Extension[],
  { objects, versions }: { readonly objects: ReadonlySet<string>; readonly versions: Versions },
  requested: readonly string[],
): readonly Extension[] {
  const needed = registry.filter(({ name }) => requested.includes(name) || versions?.has(name));
  const wanted = [...requested, ...needed.flatMap(({ needs = [] }) => needs)];
  return registry.filter(({ name, added, version, objects: all }) => {
    const recorded = versions === null ? version : versions.get(name);
    const isWanted = added === "always" || wanted.includes(name) || versions?.has(name) === true;
    if (!isWanted) return false;
    const isCurrent = recorded === 0 || recorded === version;
    return !isCurrent || all.some((object) => !objects.has(object));
  });
}
