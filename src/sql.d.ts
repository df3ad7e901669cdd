// A `.sql` file is imported as its text: esbuild's text loader in the bundles, a load hook
// (test/support/register.mjs) when Node runs the sources.
declare module "*.sql" {
  const text: string;
  export default text;
}
