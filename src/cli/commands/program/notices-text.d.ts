// The build generates this module (build/notices.mjs); the declaration lets the sources compile without it.
declare module "*/dist/third-party-notices.json" {
  const text: string;
  export default text;
}
