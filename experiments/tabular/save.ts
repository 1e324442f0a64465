import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { type Drawing, standalone } from '../../src/app/report/svg.js';

export type Row = readonly (string | number | null)[];

/** One figure: its numbers as CSV, and a picture if it has one. */
export const save = (out: string, name: string, header: Row, rows: readonly Row[], drawing?: Drawing): void => {
  writeFileSync(join(out, `${name}.csv`), csvOf([header, ...rows]));
  if (drawing) writeFileSync(join(out, `${name}.svg`), standalone(drawing));
};
