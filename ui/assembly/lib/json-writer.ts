/** Writes one JSON object, member by member. raw() writes a value that already is JSON. */
export class JsonWriter {
  private text: string = "{";

  raw(name: string, json: string): JsonWriter {
    if (this.text.length > 1) this.text += ",";
    this.text += quote(name) + ":" + json;
    return this;
  }

  string(name: string, value: string): JsonWriter {
    return this.raw(name, quote(value));
  }

  int(name: string, value: i64): JsonWriter {
    return this.raw(name, value.toString());
  }

  bool(name: string, value: bool): JsonWriter {
    return this.raw(name, value ? "true" : "false");
  }

  strings(name: string, values: string[]): JsonWriter {
    const quoted: string[] = [];
    for (let i = 0; i < values.length; i++) quoted.push(quote(values[i]));
    return this.raw(name, "[" + quoted.join(",") + "]");
  }

  ints(name: string, values: i64[]): JsonWriter {
    // values.join() would write large i64 numbers wrong.
    const written: string[] = [];
    for (let i = 0; i < values.length; i++) written.push(values[i].toString());
    return this.raw(name, "[" + written.join(",") + "]");
  }

  end(): string {
    return this.text + "}";
  }
}

export function quote(value: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (c >= 0x20 && c !== 0x22 && c !== 0x5c) continue;
    parts.push(value.substring(from, i));
    parts.push(escape(c));
    from = i + 1;
  }
  parts.push(value.substring(from));
  return '"' + parts.join("") + '"';
}

function escape(c: i32): string {
  if (c === 0x22) return '\\"';
  if (c === 0x5c) return "\\\\";
  if (c === 0x0a) return "\\n";
  if (c === 0x0d) return "\\r";
  if (c === 0x09) return "\\t";
  return "\\u00" + (c < 0x10 ? "0" : "") + c.toString(16);
}
