import { Fault } from '../../base/errors.js';
import { detectDelimiter, parseCsv } from '../../base/input/csv.js';
import { limits } from '../../base/input/limits.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';
import { resolve } from '../../base/platform/paths.js';
import { codeText } from '../../policy/code.js';
import type { CategoryColumn, Column, MergedColumns } from '../../policy/policy.js';
import { invalid } from '../../policy/problems.js';
import type { MergeEntry } from '../../policy/schema.js';
import { didYouMean } from '../../policy/suggest.js';
import type { Path, YamlFile } from '../../policy/yaml-file.js';

/** More combinations than this are no skip logic any more, and no budget fills them. */
const maxCombinations = limits.combinations.most;
/** Matches every answer of the column, and no answer. */
const anything = '*';

interface MergeContext {
  readonly directory: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly unit?: string;
  readonly yaml: YamlFile;
}

/** Columns tied by skip logic and the combinations of answers their questionnaire allows: written down, never read off the data. */
export async function declareMerge(entries: readonly MergeEntry[], context: MergeContext): Promise<readonly MergedColumns[]> {
  const taken = new Map<string, number>();
  const clusters: MergedColumns[] = [];
  for (const [i, entry] of entries.entries()) {
    const { names, lines } = typeof entry.support === 'string' ? await listed(entry, i, context) : written(entry, i, context);
    const columns = names.map((name) => mergeable(name, ['merge', i, 'columns'], context));
    for (const name of names) {
      if (taken.has(name))
        throw invalid(
          context.yaml,
          ['merge', i, 'columns'],
          `The column "${name}" is merged twice.`,
          'A column belongs to one group of merged columns at most, and is listed there once.',
        );
      taken.set(name, i);
    }
    clusters.push({ columns: names, support: combinations(columns, lines, i, context) });
  }
  return clusters;
}

/** One declared combination: a code, "" for no answer, "*" for anything; and a fault at its position. */
interface Line {
  readonly cells: readonly string[];
  readonly fault: (message: string, hint: string) => Fault;
}
interface Listed {
  readonly names: readonly string[];
  readonly lines: readonly Line[];
}

function written(entry: MergeEntry, i: number, { yaml }: MergeContext): Listed {
  if (entry.columns === undefined)
    throw invalid(
      yaml,
      ['merge', i],
      'The columns to merge are not named.',
      'Write {columns: [a, b], support: [[1, 2], [2, ""]]}.',
    );
  const lines = (entry.support as readonly (readonly string[])[]).map((cells, k): Line => {
    const path: Path = ['merge', i, 'support', k];
    return { cells, fault: (message, hint) => invalid(yaml, path, message, hint) };
  });
  return { names: entry.columns, lines };
}

/** A CSV file whose header names the columns: one line per combination. */
async function listed(entry: MergeEntry, i: number, { directory, yaml }: MergeContext): Promise<Listed> {
  const file = resolve(directory, entry.support as string);
  const text = readNamedText(file, 'supportBytes', (why) =>
    invalid(yaml, ['merge', i, 'support'], `The support file ${unreadableText[why]}.`, 'Its path is relative to the policy.'),
  );
  const malformed = (message: string, hint: string, line?: number) =>
    new Fault('DATA_MALFORMED', message, hint, { place: { file, ...(line && { line }) } });
  const rows = parseCsv(text, detectDelimiter(text.split(/\r?\n/, 1)[0] ?? ''));
  if (!rows) throw malformed('A quote in the support file is never closed.', 'Every " needs its partner.');
  const [head, ...rest] = rows;
  if (!head)
    throw malformed('The support file is empty.', 'Its first line names the columns, each further line is one combination.');
  const names = head.cells.map((name) => name.trim());
  const other =
    entry.columns &&
    (entry.columns.find((name) => !names.includes(name)) ?? names.find((name) => !entry.columns!.includes(name)));
  if (other !== undefined)
    throw malformed(
      `The support file and columns: disagree about "${other}".`,
      'Leave columns: out; the header of the file names them.',
      head.line,
    );
  const lines = rest.map(({ line, cells }): Line => {
    if (cells.length !== names.length)
      throw malformed(
        'A line of the support file has another number of cells than its header.',
        'Write one cell per column.',
        line,
      );
    return { cells, fault: (message, hint) => malformed(message, hint, line) };
  });
  return { names, lines };
}

function mergeable(name: string, path: Path, { columns, unit, yaml }: MergeContext): CategoryColumn {
  const column = columns.get(name);
  if (!column)
    throw invalid(
      yaml,
      path,
      `The merged column "${name}" is not declared.`,
      didYouMean(name, [...columns.keys()], 'Declared columns'),
    );
  if (column.type !== 'category' || name === unit)
    throw invalid(
      yaml,
      path,
      `The merged column "${name}" is not a question with fixed answers.`,
      'Only columns of type category can be merged.',
    );
  return column;
}

function combinations(
  columns: readonly CategoryColumn[],
  lines: readonly Line[],
  i: number,
  { yaml }: MergeContext,
): MergedColumns['support'] {
  if (columns.length < 2)
    throw invalid(yaml, ['merge', i], 'Fewer than two columns are merged.', 'Name the columns whose answers go together.');
  const support = new Map<string, readonly (string | null)[]>();
  const asWritten = new Set<string>();
  for (const { cells, fault } of lines) {
    if (cells.length !== columns.length)
      throw fault(
        'A combination has another number of answers than there are columns.',
        'Write one answer per column; "" means none.',
      );
    const text = JSON.stringify(cells.map(codeText));
    if (asWritten.has(text)) throw fault('A combination is listed twice.', 'List each combination once.');
    asWritten.add(text);
    let grown: (string | null)[][] = [[]];
    for (const [c, cell] of cells.entries()) {
      const answers = answersOf(columns[c]!, cell, fault);
      if (grown.length * answers.length > maxCombinations) throw tooMany(fault, grown.length * answers.length);
      grown = grown.flatMap((combination) => answers.map((answer) => [...combination, answer]));
    }
    for (const combination of grown) support.set(JSON.stringify(combination), combination);
    if (support.size > maxCombinations) throw tooMany(fault, support.size);
  }
  if (support.size === 0)
    throw invalid(
      yaml,
      ['merge', i, 'support'],
      'No combination of answers is listed.',
      'List every combination the questions allow.',
    );
  return [...support.values()];
}

const tooMany = (fault: Line['fault'], size: number): Fault =>
  fault(`The merged columns have more than ${maxCombinations} combinations (${size} at this one).`, limits.combinations.stay);

/** A code declared missing and an empty cell are one thing: no answer. */
function answersOf(column: CategoryColumn, cell: string, fault: Line['fault']): readonly (string | null)[] {
  const code = codeText(cell);
  if (code === anything && !column.values.includes(anything)) return [...column.values, null];
  if (code === '' || column.missing.includes(code)) return [null];
  if (column.values.includes(code)) return [code];
  throw fault(
    `A combination gives "${column.name}" the code "${code}", which the column does not have.`,
    `${didYouMean(code, column.values, 'Its codes')} An empty cell means no answer, * any.`,
  );
}
