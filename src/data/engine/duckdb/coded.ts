import type { DuckDBConnection } from '@duckdb/node-api';
import { sha256 } from '../../../base/platform/hash.js';
import { codeText } from '../../../policy/code.js';
import { type SourceView, type SourceViewColumn, selectAll } from '../data-view.js';
import type { SourceColumn } from '../engine.js';
import { type EngineSource, gridText } from '../source.js';
import { quoteName, quoteText } from '../structure.js';
import { storedPlace } from './dialect.js';
import { type Scan, type ScanColumn, unless } from './scan.js';

/** Positions of this many codes fit into one byte. */
const maxCodes = 255;
/** As a literal: a thousand expressions to be folded are a second of planning. */
const blanks = `' \t\r\n'`;

export interface CodedScan {
  readonly columns: readonly SourceColumn[];
  readonly shown: SourceView;
}

/**
 * Columns of a scan with categories as one-byte positions of their codes in the declared domain; text outside it becomes NULL, as
 * for every reader. The policy alone decides which columns; `alongside` keeps the text and adds the positions as further columns.
 */
export async function codeColumns(
  connection: DuckDBConnection,
  scan: Scan,
  domains: EngineSource['domains'],
  alongside: boolean,
): Promise<CodedScan> {
  const types = await codeTypes(connection, domains ?? new Map());
  const taken = new Set(scan.columns.map((c) => c.name.toLowerCase()));
  const list: SourceViewColumn[] = [];
  const columns = scan.columns.map((column, i): SourceColumn => {
    const { name: own, type, expression, from, block } = column;
    const place = from === undefined ? {} : { from };
    const here = block === undefined ? {} : { block };
    const codeType = types.get(own);
    const coded = codeType && codeOf(column, codeType);
    const shown = `fugu_code_${i}`;
    if (!coded || (alongside && (taken.has(shown) || type === 'integer'))) {
      list.push({ name: own, expression, ...place });
      return { name: own, type, ...here };
    }
    if (alongside) {
      list.push({ name: own, expression }, { name: shown, expression: coded });
      return { name: own, type, coded: shown, domain: codeType!.codes };
    }
    list.push({ name: own, expression: coded, ...place });
    const text = `fugu_text_${i}`;
    const known = { name: own, type: 'text', ...here, domain: codeType!.codes } as const;
    if (from === undefined || column.longest === undefined || taken.has(text)) return known;
    list.push({ name: text, expression: quoteName(own), from });
    return { ...known, written: { column: text, longest: column.longest } };
  });
  return { columns, shown: { from: scan.from, columns: list } };
}

/** Limit on numeric columns with places: with more, planning the statement would take longer than running it. */
const maxPlaced = 200;

/** Adds a column with the place of each number, computed from the cells shown. The policy alone decides which columns get one. */
export function withPlaceColumns({ columns, shown }: CodedScan, grids: EngineSource['grids']): CodedScan {
  const taken = new Set(shown.columns.map((c) => c.name.toLowerCase()));
  const places: SourceViewColumn[] = [];
  const placed = columns.map((column, i): SourceColumn => {
    const grid = grids?.get(column.name);
    const own = `fugu_place_${i}`;
    if (!grid || column.type !== 'real' || taken.has(own) || places.length === maxPlaced) return column;
    places.push({ name: own, expression: storedPlace(quoteName(column.name), grid) });
    return { ...column, places: { column: own, grid: gridText(grid) } };
  });
  if (places.length === 0) return { columns, shown };
  const all = [...shown.columns.map((c) => ({ name: c.name, expression: quoteName(c.name) })), ...places];
  return { columns: placed, shown: { from: `(${selectAll(shown)})`, columns: all } };
}

/** A cell's code, or NULL. A stored number is the code that reads the same, as in data/engine/codes.ts. */
function codeOf({ name: own, type, expression, code, missing }: ScanColumn, { named, whole }: CodeType): string | undefined {
  const cast = (text: string) => `TRY_CAST(${text} AS ${named})`;
  // Nearly every text is a code already; only the others need the longer expression.
  const [plain, closer] = code === undefined ? [expression, expression] : [quoteName(own), code];
  if (type === 'text') return unless(missing, `coalesce(${cast(plain)}, ${cast(`trim(${closer}, ${blanks})`)})`);
  if (!whole) return undefined;
  if (type === 'integer') return cast(`CAST(${expression} AS VARCHAR)`);
  if (type !== 'real') return undefined;
  return `CASE WHEN ${expression} = trunc(${expression}) THEN ${cast(`CAST(TRY_CAST(${expression} AS BIGINT) AS VARCHAR)`)} END`;
}

interface CodeType {
  readonly named: string;
  readonly codes: readonly string[];
  /** Every code is a whole number, written plainly and small enough to be stored exactly as a real number. */
  readonly whole: boolean;
}
const isWhole = (code: string): boolean => /^(0|-?[1-9][0-9]{0,14})$/.test(code);

/** The type of each column whose domain is small enough; columns with one domain share a type. */
async function codeTypes(
  connection: DuckDBConnection,
  domains: NonNullable<EngineSource['domains']>,
): Promise<ReadonlyMap<string, CodeType>> {
  const byList = new Map<string, CodeType>();
  const types = new Map<string, CodeType>();
  for (const [own, codes] of domains) {
    if (codes.length === 0 || codes.length > maxCodes || codes.some((code) => code === '' || codeText(code) !== code)) continue;
    const list = codes.map(quoteText).join(', ');
    if (!byList.has(list)) {
      // Named by its codes: side tables have types of their own.
      const named = `fugu_codes_${sha256(list).slice(0, 32)}`;
      await connection.run(`CREATE TYPE IF NOT EXISTS ${named} AS ENUM (${list})`);
      byList.set(list, { named, codes, whole: codes.every(isWhole) });
    }
    types.set(own, byList.get(list)!);
  }
  return types;
}
