/**
 * Builds a picture of the page: a list of operations, by which the host changes the document (ui/host/picture.ts). The
 * picture has no markup, so texts and values of attributes cannot become markup, whatever they contain.
 *
 * Tag and attribute names must be string literals, because the host identifies a name by its address in memory.
 */
export const enum Op {
  /**
   * Begins an element. Three entries follow: the name of the element, and how many entries of `ops` and of `units` its
   * attributes and children take.
   */
  Open = 1,
  Text,
  Attr,
  Flag,
  /** Keeps the place of a child that is not shown now, so that its siblings keep their identity. */
  Hole,
}

export class View {
  private ops: StaticArray<u32> = new StaticArray<u32>(4096);
  private opCount: i32 = 0;
  private units: StaticArray<u16> = new StaticArray<u16>(4096);
  private unitCount: i32 = 0;

  /** Begins an element. Returns the argument for `close`. */
  open(tag: string): i32 {
    this.op(Op.Open);
    this.name(tag);
    this.op(0);
    this.op(this.unitCount);
    return this.opCount;
  }

  close(opened: i32): void {
    this.ops[opened - 2] = this.opCount - opened;
    this.ops[opened - 1] = this.unitCount - this.ops[opened - 1];
  }

  hole(): void {
    this.op(Op.Hole);
  }

  text(value: string): void {
    this.op(Op.Text);
    this.string(value);
  }

  attr(name: string, value: string): void {
    this.op(Op.Attr);
    this.name(name);
    this.string(value);
  }

  /** Adds an attribute that is on or off, such as `checked`. */
  flag(name: string, on: bool): void {
    this.op(Op.Flag);
    this.name(name);
    this.op(on ? 1 : 0);
  }

  clear(): void {
    this.opCount = 0;
    this.unitCount = 0;
  }

  get opsAt(): usize {
    return changetype<usize>(this.ops);
  }

  get opsLength(): i32 {
    return this.opCount;
  }

  get unitsAt(): usize {
    return changetype<usize>(this.units);
  }

  get unitsLength(): i32 {
    return this.unitCount;
  }

  private name(literal: string): void {
    assert(changetype<usize>(literal) < __heap_base, "a name that is not a literal");
    this.op(<u32>changetype<usize>(literal));
  }

  private op(value: u32): void {
    if (this.opCount === this.ops.length) this.ops = grown(this.ops, this.opCount * 2);
    this.ops[this.opCount] = value;
    this.opCount++;
  }

  private string(value: string): void {
    const size = value.length;
    const end = this.unitCount + size;
    if (end > this.units.length) this.units = grown(this.units, max(end, this.units.length * 2));
    memory.copy(
      changetype<usize>(this.units) + ((<usize>this.unitCount) << 1),
      changetype<usize>(value),
      (<usize>size) << 1,
    );
    this.unitCount = end;
    this.op(size);
  }
}

function grown<T>(array: StaticArray<T>, length: i32): StaticArray<T> {
  const larger = new StaticArray<T>(length);
  memory.copy(
    changetype<usize>(larger),
    changetype<usize>(array),
    (<usize>array.length) << alignof<T>(),
  );
  return larger;
}
