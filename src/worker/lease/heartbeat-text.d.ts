// The build writes this file (build.mjs). The sources must compile without it.
declare module "*/dist/heartbeat-thread.json" {
  const text: string;
  export default text;
}
