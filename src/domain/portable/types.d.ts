// The types of AssemblyScript, for files that both AssemblyScript and TypeScript compile.
type i32 = number;
type i64 = number;
type f64 = number;
type bool = boolean;
