import { Fault } from '../../base/errors.js';
import { detectDelimiter, parseCsv } from '../../base/input/csv.js';
import { within } from '../../base/input/limits.js';
import { readNamed, unreadableText } from '../../base/input/named-file.js';
import { isUtf8 } from '../../base/platform/values.js';
import { codeText } from '../../policy/code.js';
import type { Codebook, CodebookEntry } from '../../policy/codebook.js';
import { didYouMean } from '../../policy/suggest.js';
import { readDdi } from '../statfile/ddi.js';
import { windows } from '../statfile/decode.js';
import { hasDictionary } from '../statfile/statfile.js';
import { codebookOf, readStatCodebook } from './statfile.js';

const needed = ['name', 'value', 'label'] as const;
const known = [...needed, 'missing', 'share'];
const yes = new Set(['1', 'true', 'yes', 'y', 'x', 'missing', 'na']);
const no = new Set(['', '0', 'false', 'no', 'n']);

/**
 * A CSV with the columns name, value, label and perhaps missing and share: one line per code; a line without a value labels the column itself. Or the
 * dictionary of a survey file, or a DDI codebook.
 */
export async function readCodebook(file: string): Promise<Codebook> {
  return new Map([...(await codebookIn(file))].map(([name, entry]) => [name, { ...entry, labels: withoutCodes(entry.labels) }]));
}

/** "1. Yes", "2. No": labels that all begin with their own code mean what follows it. */
export function withoutCodes(labels: CodebookEntry['labels']): CodebookEntry['labels'] {
  const rest = [...labels].map(([code, label]) => [code, afterCode(code, label)] as const);
  return rest.length > 1 && rest.every(([, label]) => label !== undefined) ? new Map(rest as [string, string][]) : labels;
}
const afterCode = (code: string, label: string): string | undefined =>
  label.startsWith(code) ? /^(?:[.:)=]| [-–=])\s+(\S.*)$/su.exec(label.slice(code.length))?.[1] : undefined;

async function codebookIn(file: string): Promise<Codebook> {
  if (hasDictionary(file)) return readStatCodebook(file);
  if (/\.xml$/i.test(file)) return codebookOf(readDdi(file));
  const bytes = readNamed(
    file,
    'codebookBytes',
    (why) =>
      new Fault(
        'DATA_NOT_FOUND',
        `The codebook ${unreadableText[why]}.`,
        'Check data.codebook in the policy; it is relative to the policy.',
        { place: { file } },
      ),
  );
  // A codebook is public: what its letters are may be found out from them.
  return parseCodebook(isUtf8(bytes) ? bytes.toString('utf8') : windows(bytes), file);
}

interface Draft {
  label?: string;
  values: string[];
  codes: Set<string>;
  labels: Map<string, string>;
  missing: string[];
  shares?: Map<string, number>;
}

export function parseCodebook(text: string, file: string): Codebook {
  const malformed = (message: string, hint: string, line?: number) =>
    new Fault('DATA_MALFORMED', message, hint, { place: { file, ...(line && { line }) } });
  const rows = parseCsv(text, detectDelimiter(text.split(/\r?\n/, 1)[0] ?? ''));
  if (!rows) throw malformed('A quote in the codebook is never closed.', 'Every " needs its partner.');
  const [head, ...lines] = rows;
  if (!head) throw malformed('The codebook is empty.', 'Its first line is name,value,label,missing.');
  const header = head.cells.map((c) => c.trim().toLowerCase());
  for (const name of needed)
    if (!header.includes(name))
      throw malformed(
        `The codebook has no column "${name}".`,
        'Its first line is name,value,label,missing (missing may be left out).',
        head.line,
      );
  for (const name of header)
    if (!known.includes(name))
      throw malformed(`The codebook has an unknown column "${name}".`, didYouMean(name, known), head.line);
  const at = (cells: readonly string[], name: string) => (cells[header.indexOf(name)] ?? '').trim();

  const entries = new Map<string, Draft>();
  for (const { line, cells } of lines) {
    if (cells.length > header.length)
      throw malformed('A codebook line has more cells than its header.', 'Put quotes around a label that holds a comma.', line);
    const name = at(cells, 'name');
    if (name === '') throw malformed('A codebook line has no name.', 'Every line starts with the name of a column.', line);
    const entry: Draft = entries.get(name) ?? { values: [], codes: new Set(), labels: new Map(), missing: [] };
    entries.set(name, entry);
    const value = codeText(at(cells, 'value'));
    const label = at(cells, 'label');
    if (value === '') {
      if (label !== '') entry.label = label;
      continue;
    }
    within('nameLength', name.length, { file, line });
    within('nameLength', value.length, { file, line });
    if (entry.codes.has(value))
      throw malformed(`The codebook lists a code of "${name}" twice.`, 'Each code of a column stands on one line.', line);
    const mark = at(cells, 'missing').toLowerCase();
    if (!yes.has(mark) && !no.has(mark))
      throw malformed('The missing mark is not understood.', 'Write yes or leave it empty.', line);
    (yes.has(mark) ? entry.missing : entry.values).push(value);
    entry.codes.add(value);
    within('categories', entry.codes.size, { file, line });
    if (label !== '') entry.labels.set(value, label);
    const share = at(cells, 'share');
    if (share === '') continue;
    const size = /^(0|1|0?\.\d+|1\.0+)$/.test(share) ? Number(share) : Number.NaN;
    if (!(size >= 0 && size <= 1))
      throw malformed('A share is not a number from 0 to 1.', 'Write 0.03 for three percent, or leave it empty.', line);
    entry.shares ??= new Map();
    entry.shares.set(value, size);
  }
  within('columns', entries.size, { file });
  return entries;
}
