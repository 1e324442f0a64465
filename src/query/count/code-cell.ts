import { type CodeTables, codeTables } from '../../data/engine/codes.js';
import type { Dialect } from '../../data/engine/dialect.js';
import type { SourceColumn } from '../../data/engine/engine.js';
import { nameText } from '../../data/engine/name.js';
import { quoteName } from '../../data/engine/structure.js';
import { rawCell } from './read-column.js';

/**
 * Code of a category cell in one spelling, by which rows are compared; NULL where the cell holds no declared code.
 * The result does not depend on whether the engine has dropped undeclared text (`CellReadings.domains`).
 */
export function codeCell(dialect: Dialect, source: SourceColumn, codes: readonly string[], cell: string): string {
  const shown = shownAsCode(source, codes, cell);
  if (shown !== undefined) return dialect.text(shown);
  // As letters, in the order of their code points.
  return dialect.name(codeFound(dialect, source.type, codeTables(codes), cell) ?? dialect.text('NULL'), 'integer');
}

function codeFound(dialect: Dialect, type: SourceColumn['type'], tables: CodeTables, cell: string): string | undefined {
  if (type === 'real') return realCode(dialect, [...tables.real.keys()], cell);
  // No text with NUL is kept by every database.
  const known = [...(type === 'integer' ? tables.integer : tables.text).keys()].filter((code) => !code.includes('\0'));
  return known.length > 0 ? dialect.codeIn(type === 'text' ? cell : dialect.text(cell), known) : undefined;
}

/** Whole numbers are compared as text where they are stored as integers. */
function realCode(dialect: Dialect, numbers: readonly number[], cell: string): string | undefined {
  if (numbers.length === 0) return undefined;
  const written = numbers.every(Number.isSafeInteger) ? dialect.whole(cell) : dialect.bits(cell);
  return `CASE WHEN ${cell} IN (${numbers.map(dialect.constant).join(', ')}) THEN ${dialect.text(written)} END`;
}

/** Cell that the engine already shows as exactly these codes. */
function shownAsCode({ domain, ...source }: SourceColumn, codes: readonly string[], cell: string): string | undefined {
  if (!domain || domain.length !== codes.length || domain.some((code, i) => code !== codes[i])) return undefined;
  if (source.coded === undefined) return cell;
  return cell === rawCell(source) ? quoteName(source.coded) : undefined;
}

/** Name in the cell, by which rows are joined; for a category that is no key, its code (`codes`). */
export function cellName(dialect: Dialect, source: SourceColumn, codes: readonly string[] | undefined, cell: string): string {
  if (!codes) return dialect.name(cell, source.type);
  const code = codeCell(dialect, source, codes, cell);
  // Nearly every code is its own name.
  return codes.every((own) => nameText(own) === own) ? code : dialect.name(code, 'text');
}
