/** Pages of docs/, made by scripts/docs-pages.mjs when the console is built. */
declare module 'virtual:docs' {
  export const parts: readonly {
    readonly title: string;
    readonly pages: readonly { readonly title: string; readonly path: string; readonly summary: string }[];
  }[];
  export const headings: Readonly<Record<string, readonly string[]>>;
  /** Body of a page as HTML; links to other pages begin with `help:`. */
  export const pages: Readonly<Record<string, () => Promise<{ readonly default: string }>>>;
}
