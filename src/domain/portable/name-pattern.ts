// The patterns of limits, which match the names of tasks or queues.

/** Whether the name matches. Each `*` in the pattern matches any text, also an empty one. */
export function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const last = parts.length - 1;
  if (last === 0) return pattern === name;
  if (!name.startsWith(parts[0]!)) return false;
  let at = parts[0]!.length;
  for (let i = 1; i < last; i++) {
    const found = name.indexOf(parts[i]!, at);
    if (found < 0) return false;
    at = found + parts[i]!.length;
  }
  return name.length - parts[last]!.length >= at && name.endsWith(parts[last]!);
}
