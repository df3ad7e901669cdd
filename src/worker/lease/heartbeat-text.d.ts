// The build writes the JSON file, which has the bundled heartbeat thread. The sources must compile before that.
declare module "*/dist/heartbeat-thread.json" {
  const text: string;
  export default text;
}
