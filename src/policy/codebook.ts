/** A column's entry in a codebook: its label, its codes and which of them are missing values. */
export interface CodebookEntry {
  readonly label?: string;
  readonly values: readonly string[];
  readonly labels: ReadonlyMap<string, string>;
  readonly missing: readonly string[];
  /** Public share of each code (an earlier wave, a census), where the codebook gives them. */
  readonly shares?: ReadonlyMap<string, number>;
}
export type Codebook = ReadonlyMap<string, CodebookEntry>;
