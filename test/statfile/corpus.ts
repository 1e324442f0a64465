import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStatFile, type StatCell, type StatVariable } from '../../src/data/statfile/statfile.js';

/** Contents of a file as read by pyreadstat; made by make.py. */
export interface ExpectedFile {
  readonly rows: number;
  readonly label: string | null;
  readonly variables: readonly {
    readonly name: string;
    readonly label: string | null;
    readonly labels: Readonly<Record<string, string>>;
    /** From, to; the same twice for a single code. */
    readonly ranges: readonly (readonly [StatCell, StatCell])[];
  }[];
  readonly columns: readonly (readonly StatCell[])[];
}

export const corpus = join(import.meta.dirname, 'corpus');
export const expectedOf = (folder: string): Readonly<Record<string, ExpectedFile>> =>
  JSON.parse(readFileSync(join(folder, 'expected.vectors.json'), 'utf8')) as Record<string, ExpectedFile>;

export interface ReadFile {
  readonly rows: number;
  readonly label: string | undefined;
  readonly variables: readonly StatVariable[];
  readonly columns: readonly StatCell[][];
}

/** Everything a file holds. */
export async function readWhole(path: string): Promise<ReadFile> {
  const file = await openStatFile(path);
  try {
    const columns: StatCell[][] = file.variables.map(() => []);
    for await (const block of file.blocks())
      for (const [c, cells] of block.entries()) for (const cell of cells) columns[c]!.push(cell);
    return { rows: file.rows, label: file.label, variables: file.variables, columns };
  } finally {
    await file.close();
  }
}
