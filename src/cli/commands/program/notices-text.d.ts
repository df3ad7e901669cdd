// The build makes this file (build/notices.mjs); the sources must compile without it.
declare module "*/dist/third-party-notices.json" {
  const text: string;
  export default text;
}
