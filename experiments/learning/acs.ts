import { fileURLToPath } from 'node:url';
import { readStructure } from '../../src/data/engine/structure.js';
import { openEngine } from '../../src/data/terms/open.js';
import { publicData } from '../data.js';
import type { Row, Task } from './bench.js';

/** The American Community Survey of 2018, persons of fourteen states. */
const file = 'acs2018_1yr_persons_14states.parquet';
export const acsFolder = publicData('census/', file);

const features = ['agep', 'cow', 'schl', 'mar', 'relp', 'wkhp', 'sex', 'rac1p', 'nativity'];
const codes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, k) => `"${from + k}"`).join(', ');
/** Domains of the data dictionary; the bins are round numbers. */
const columns = `
  agep: { type: integer, bounds: [17, 99], bins: [22, 26, 30, 35, 40, 50, 60] }
  cow: { type: category, values: [${codes(1, 9)}] }
  schl: { type: integer, bounds: [1, 24], bins: [16, 18, 20, 21, 22] }
  mar: { type: category, values: [${codes(1, 5)}] }
  relp: { type: category, values: [${codes(0, 17)}] }
  wkhp: { type: integer, bounds: [1, 99], bins: [20, 35, 40, 41, 50] }
  sex: { type: category, values: [${codes(1, 2)}] }
  rac1p: { type: category, values: [${codes(1, 9)}] }
  nativity: { type: category, values: [${codes(1, 2)}] }
  rich: { type: category, values: ["no", "yes"] }
`;

/** Label: earns more than 50,000 dollars, among working adults; every fourth row is kept for the test. */
export async function acsTask(folder: URL): Promise<Task> {
  const engine = await openEngine({ source: fileURLToPath(new URL(file, folder)) });
  const rows: Row[] = [];
  try {
    const sql = `SELECT ${features.join(', ')}, pincp FROM fugu_data WHERE agep > 16 AND pincp > 100 AND wkhp > 0 ORDER BY serialno, sporder`;
    for await (const cells of readStructure(await engine.snapshot(), { sql, values: [] }))
      rows.push({
        ...Object.fromEntries(features.map((name, k) => [name, `${cells[k]}`])),
        rich: Number(cells[features.length]) > 50_000 ? 'yes' : 'no',
      });
  } finally {
    await engine.close();
  }
  return {
    name: 'ACS',
    train: rows.filter((_, i) => i % 4 !== 0),
    test: rows.filter((_, i) => i % 4 === 0),
    columns,
    ask: { label: 'rich', positive: ['yes'], features },
  };
}
