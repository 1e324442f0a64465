import type { ColumnSummary } from './guess.js';
import { yamlScalar } from './policy-text.js';

/** A side-table file, with its columns as found. */
export interface SideFile {
  /** As written into the policy. */
  readonly source: string;
  readonly columns: readonly ColumnSummary[];
  /** Lines that would declare its columns, but for those in `except`. */
  readonly lines: (except: ReadonlySet<string>) => readonly string[];
}
/** Guessed role of a table; nothing takes effect until the steward confirms it. */
export interface DraftedTable {
  readonly name: string;
  /** The column that seems to name the person. */
  readonly unit?: string;
  /** The column that seems to find one row, of a table that names nobody. */
  readonly key?: string;
}

const nameOf = (source: string): string =>
  source
    .replace(/^.*\//, '')
    .replace(/\.gz$/i, '')
    .replace(/\.[^.]*$/, '');
const namesOf = ({ columns }: Pick<SideFile, 'columns'>): readonly string[] => columns.map(({ name }) => name);
/** Every row of the file has a different value in that column. */
const isKey = ({ rows, distinct }: ColumnSummary): boolean => rows > 1 && distinct === rows;

/** Guessed owner of the rows: the column that names a person of the data, or else one that identifies a row of a public table. */
export function draftTable(file: SideFile, data: readonly ColumnSummary[], unit: string | undefined): DraftedTable {
  const name = nameOf(file.source);
  const shared = namesOf(file).filter((own) => data.some((column) => column.name === own));
  const person = shared.find((own) => own === unit) ?? shared.find((own) => isKey(data.find((column) => column.name === own)!));
  if (person !== undefined) return { name, unit: person };
  const key = file.columns.find(isKey)?.name;
  return { name, ...(key !== undefined && { key }) };
}

/**
 * Lines about side tables, all of them comments: owner, contribution bound
 * and publicness are promises that no file can show (docs/explanation/decisions/0023).
 */
export function sideFileLines(
  files: readonly SideFile[],
  tables: readonly DraftedTable[],
  data: readonly ColumnSummary[],
): readonly string[] {
  const unit = tables.find((table) => table.unit !== undefined)?.unit;
  const all = [data.map(({ name }) => name), ...files.map(namesOf)];
  const lines = tables.flatMap((table, k) => {
    const own = namesOf(files[k]!);
    const met = own.filter((name) => name !== table.unit && name !== table.key);
    const links = met.filter((name) => all.some((others, j) => j !== k + 1 && others.includes(name)));
    const columns = files[k]!.lines(new Set([...links, ...[table.unit, table.key].filter((name) => name !== undefined)]));
    return [
      `  ${yamlScalar(table.name)}:`,
      `    source: ${yamlScalar(files[k]!.source)}`,
      ...(table.unit === undefined
        ? [
            '    # No column of it names a person of the data. If everybody knows its rows:',
            `    public: true`,
            `    key: ${table.key === undefined ? 'COLUMN' : yamlScalar(table.key)}    # ${table.key === undefined ? 'to be said' : 'guessed'}: by which one of its rows is found`,
          ]
        : [
            `    unit: ${yamlScalar(table.unit)}    # guessed: who the rows are about. If everybody knows them: public: true, with a key`,
            '    maxRows: N    # to be said: so many rows of one person count at most; what is read from the data tells about people in it',
          ]),
      ...(links.length > 0 ? [`    links: [${links.map(yamlScalar).join(', ')}]    # guessed: other tables have them, too`] : []),
      ...(columns.length > 0 ? ['    columns:', ...columns.map((line) => `    ${line}`)] : []),
    ];
  });
  return [
    '# Tables beside the data (docs/how-to/tables.md). They are comments because they make promises: look at every line, above all at unit,',
    '# maxRows and public, put what is known beforehand for values and bounds that were read from the files, and take the # away.',
    `# With tables the secret is a person: protect: {secret: person, unit: ${unit === undefined ? 'COLUMN' : yamlScalar(unit)}, maxRows: 1}.`,
    '# tables:',
    ...lines.map((line) => `# ${line}`),
    '',
  ];
}
