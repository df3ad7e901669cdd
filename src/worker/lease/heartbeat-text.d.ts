// The build makes this file (build.mjs); the sources must compile without it.
declare module "*/dist/heartbeat-thread.json" {
  const text: string;
  export default text;
}
