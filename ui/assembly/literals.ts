/**
 * Puts the module's static data where the compiler expects them, before any other code of the module runs. As the
 * compiler writes the data, a string takes twenty bytes and two for every letter. To make the module smaller, the build
 * (ui/literals.mjs) packs the data at the end of the initial memory: the texts, and the steps that restore the objects.
 * This file must be the first import of index.ts.
 */

/**
 * The size of an object's head, which has five fields: the size of the object's block, two links, the object's type,
 * and the size of its content (std/assembly/rt/common.ts of AssemblyScript).
 */
const HEAD: usize = 20;
const STRING: u32 = 2;
/** The type of a step that writes bytes outside of objects, after a gap of zeros. */
const PLAIN: u32 = 0;
/** The size of the last part of the memory. It has two numbers: the size of the texts and the size of the steps. */
const SIZES: usize = 8;

const end: usize = ((<usize>memory.size()) << 16) - SIZES;
const start: usize = end - load<u32>(end) - load<u32>(end + 4);
let text: usize = start;
let step: usize = end - load<u32>(end + 4);
unpack();

function unpack(): void {
  let to: usize = 0;
  while (step < end) {
    const type = number();
    let length: usize = number();
    if (type === STRING) {
      while (length-- > 0) to = string(to);
      continue;
    }
    if (type === PLAIN) {
      to += length;
      length = number();
    } else to = object(to, type, length);
    memory.copy(to, step, length);
    to += length;
    step += length;
  }
  memory.fill(start, 0, end + SIZES - start);
}

/** Writes the head of an object into the next block. Returns where its content begins. */
function object(from: usize, type: u32, size: usize): usize {
  // Blocks begin at multiples of 16.
  const at = (from + HEAD + 15) & ~15;
  store<u32>(at - 20, ((HEAD + size + 15) & ~15) - 4);
  store<u32>(at - 8, type);
  store<u32>(at - 4, <u32>size);
  return at;
}

/** Writes the next packed text, which ends with a zero, as a string object. Returns where the object ends. */
function string(from: usize): usize {
  const at = object(from, STRING, 0);
  let to = at;
  for (;;) {
    let unit: u32 = load<u8>(text++);
    if (unit === 0) break;
    if (unit >= 0xe0) unit = (unit << 12) | (rest() << 6) | rest();
    else if (unit >= 0x80) unit = ((unit & 31) << 6) | rest();
    store<u16>(to, unit);
    to += 2;
  }
  object(from, STRING, to - at);
  return to;
}

function rest(): u32 {
  return load<u8>(text++) & 63;
}

/** Reads a number of seven bits, which takes one byte of the steps, or of fourteen bits, which takes two. */
function number(): u32 {
  const low: u32 = load<u8>(step++);
  return low < 0x80 ? low : low + ((<u32>load<u8>(step++) - 1) << 7);
}
