// A `.sql` file is imported as its text: by esbuild's text loader in the bundles, and by a load hook
// (build/sql-text.mjs) when Node runs the sources.
declare module "*.sql" {
  const text: string;
  export default text;
}
