/**
 * Puts the string literals where the compiler expects them, before anything else of the module runs. As
 * they stand in memory each takes twenty bytes and two for every letter; the build packs them to one and
 * one (ui/literals.mjs), at the end of the first memory. Must be the first import of the entry.
 */

/** Before a string stand the size of its block, two links, its type and its own size: std/assembly/rt/common.ts. */
const HEAD: usize = 20;
const STRING: u32 = 2;

const end: usize = (<usize>memory.size()) << 16;
const size: usize = load<u32>(end - 4);
let at: usize = end - 4 - size;
if (size > 0) unpack();

/** A step is an odd number, for a string of half as many letters, or an even one, for plain bytes behind a gap. */
function unpack(): void {
  let to: usize = 0;
  while (at < end - 4) {
    const step = number();
    const length: usize = step >> 1;
    if (step & 1) to = string(to, length);
    else {
      to += number();
      memory.copy(to, at, length);
      to += length;
      at += length;
    }
  }
  memory.fill(end - 4 - size, 0, size + 4);
}

/** Writes a string into the next block; gives where it ends. */
function string(from: usize, length: usize): usize {
  // What is counted from is a multiple of 16.
  let to = (from + HEAD + 15) & ~15;
  store<u32>(to - 20, ((HEAD + (length << 1) + 15) & ~15) - 4);
  store<u32>(to - 8, STRING);
  store<u32>(to - 4, <u32>(length << 1));
  for (let i: usize = 0; i < length; i++) {
    let unit: u32 = load<u8>(at++);
    if (unit >= 0xe0) unit = (unit << 12) | (rest() << 6) | rest();
    else if (unit >= 0x80) unit = ((unit & 31) << 6) | rest();
    store<u16>(to, unit);
    to += 2;
  }
  return to;
}

function rest(): u32 {
  return load<u8>(at++) & 63;
}

/** Seven bits, or fourteen. */
function number(): u32 {
  const low: u32 = load<u8>(at++);
  return low < 0x80 ? low : low + ((<u32>load<u8>(at++) - 1) << 7);
}
