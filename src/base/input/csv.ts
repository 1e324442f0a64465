/** A small CSV file (a codebook, a header) as rows of text; quotes as in RFC 4180. `line` counts from one. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

export const delimiters = [',', ';', '\t', '|'] as const;

/** The delimiter that splits the first line into most cells; quoted text does not count. */
export function detectDelimiter(firstLine: string): string {
  const bare = firstLine.replace(/"(?:[^"]|"")*"/g, '');
  let best: string = ',';
  let most = 0;
  for (const d of delimiters) {
    const count = bare.split(d).length - 1;
    if (count > most) {
      most = count;
      best = d;
    }
  }
  return best;
}

/** Undefined when a quote is never closed. */
export function parseCsv(text: string, delimiter: string): CsvRow[] | undefined {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let cell = '';
  let line = 1;
  let start = 1;
  let quoted = false;
  const endRow = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0] !== '') rows.push({ line: start, cells });
    cells = [];
    cell = '';
  };
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!;
    if (c === '\n') line++;
    if (quoted) {
      if (c !== '"') cell += c;
      else if (source[i + 1] === '"') {
        cell += '"';
        i++;
      } else quoted = false;
    } else if (c === '"' && cell === '') quoted = true;
    else if (c === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (c === '\n' || c === '\r') {
      if (c === '\r' && source[i + 1] === '\n') {
        i++;
        line++;
      }
      endRow();
      start = line;
    } else cell += c;
  }
  if (quoted) return undefined;
  if (cell !== '' || cells.length > 0) endRow();
  return rows;
}
