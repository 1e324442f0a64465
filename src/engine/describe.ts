import type { ColumnSummary } from '../policy/draft-guess.js';
import { name } from './duckdb-scan.js';
import type { Cell, Engine } from './engine.js';

/** Columns looked at per statement: enough that a file is read few times, few enough that one statement stays small. */
const batch = 25;
/** A column with more different values than this is not listed value by value. */
export const mostListed = 60;

const number = (text: string) => `CASE WHEN isfinite(try_cast(${text} AS DOUBLE)) THEN try_cast(${text} AS DOUBLE) END`;
const separators = [';', '|'] as const;

const measures = (text: string): string[] => [
  `count(${text})`,
  `approx_count_distinct(${text})`,
  `count(${number(text)})`,
  `count_if(${number(text)} <> floor(${number(text)}))`,
  `min(${number(text)})`,
  `max(${number(text)})`,
  `coalesce(max(length(${text})), 0)`,
  `count(try_cast(${text} AS TIMESTAMP))`,
  ...separators.map((s) => `count_if(contains(${text}, '${s}'))`),
];

/**
 * What `fugu init` needs to draft a policy: exact figures about the data, for the steward's eyes only. Nothing else may call this; whatever of it ends up
 * in a policy is marked unconfirmed until the steward has looked at it.
 */
export async function describeColumns(
  engine: Engine,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<readonly ColumnSummary[]> {
  const columns = await engine.columns();
  const rows = (await engine.size()).open();
  const found: ColumnSummary[] = [];
  for (let start = 0; start < columns.length; start += batch) {
    const some = columns.slice(start, start + batch);
    const texts = some.map((c) => (c.type === 'text' ? name(c.name) : `CAST(${name(c.name)} AS VARCHAR)`));
    const sql = `SELECT ${texts.flatMap(measures).join(', ')} FROM fugu_data`;
    const [cells] = (await engine.rows({ sql, values: [] })).open();
    const width = measures('').length;
    for (const [i, column] of some.entries()) {
      const [filled, distinct, numbers, fractions, low, high, longest, dates, ...separated] = cells!
        .slice(i * width, (i + 1) * width)
        .map(Number);
      const listed = distinct! <= mostListed * 1.2 ? await listCodes(engine, column.name) : undefined;
      const separator = separators.find((_, s) => separated[s]! > filled! / 20);
      found.push({
        name: column.name,
        stored: column.type,
        rows,
        filled: filled!,
        distinct: listed?.length ?? distinct!,
        numbers: numbers!,
        fractions: fractions!,
        ...(numbers! > 0 && { range: [low!, high!] as const }),
        longest: longest!,
        dates: dates!,
        ...(listed && listed.length <= mostListed && { codes: listed }),
        ...(separator !== undefined && { separator, options: await listOptions(engine, column.name, separator) }),
        extremes: numbers! > 0 && !listed ? await extremes(engine, column.name) : [],
      });
    }
    progress(Math.min(columns.length, start + batch), columns.length);
  }
  return found;
}

const first = async (engine: Engine, sql: string, values: readonly Cell[] = []) =>
  (await engine.rows({ sql, values })).open().map((row) => String(row[0]));

/** In the order of the codes, never of their frequency. */
const listCodes = (engine: Engine, column: string) =>
  first(
    engine,
    `SELECT DISTINCT ${name(column)} FROM fugu_data WHERE ${name(column)} IS NOT NULL ORDER BY 1 LIMIT ${mostListed + 1}`,
  );

const listOptions = (engine: Engine, column: string, separator: string) =>
  first(
    engine,
    `SELECT DISTINCT trim(part) AS option FROM (SELECT unnest(string_split(CAST(${name(column)} AS VARCHAR), $1)) AS part FROM fugu_data)
     WHERE trim(part) <> '' ORDER BY 1 LIMIT ${mostListed + 1}`,
    [separator],
  );

/** The outermost numbers, among which codes for "no answer" hide. */
async function extremes(engine: Engine, column: string): Promise<readonly number[]> {
  const value = number(`CAST(${name(column)} AS VARCHAR)`);
  const ends = ['ASC', 'DESC'].map(
    (way) => `(SELECT DISTINCT ${value} AS x FROM fugu_data WHERE ${value} IS NOT NULL ORDER BY 1 ${way} LIMIT 12)`,
  );
  const found = (await first(engine, `SELECT DISTINCT x FROM (${ends.join(' UNION ALL ')}) ORDER BY 1`)).map(Number);
  return found;
}
