/** The module as it is served has another one in it, packed (ui/pack.mjs), and has unpacked that when it has started. */

interface Unpacker {
  readonly memory: WebAssembly.Memory;
  readonly start: WebAssembly.Global<"i32">;
  readonly end: WebAssembly.Global<"i32">;
}

export function unpacked({ exports }: WebAssembly.Instance): Promise<WebAssembly.Module> {
  const { memory, start, end } = exports as unknown as Unpacker;
  const bytes = new Uint8Array(memory.buffer, start.value, end.value - start.value);
  return WebAssembly.compile(bytes);
}
