import type { Column, Policy } from '../api/shapes.ts';
import { isLabel, isSeveral, type SeveralKind, severalFor, severalKinds, severalQuestion } from './several.ts';

/** Request in the form, before it is a valid query. */
export interface QuestionDraft {
  readonly mode: 'builder' | 'sql' | 'json';
  readonly kind: FormKind;
  readonly column: string;
  readonly second: string;
  readonly by: string;
  readonly values: readonly string[];
  readonly where: string;
  readonly whereValues: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly sql: string;
  /** Request as JSON, for queries that no form covers. */
  readonly json: string;
  /** For queries about several columns: which ones, and one more number (columns per table, clusters, rows). */
  readonly several: readonly string[];
  readonly many: string;
  /** Pattern to count, and the relation to count it in. */
  readonly pattern: string;
  readonly relation: string;
}

export type FormKind =
  | 'pattern'
  | 'histogram'
  | 'crosstab'
  | 'count'
  | 'mean'
  | 'sum'
  | 'quantile'
  | 'cdf'
  | 'share'
  | 'survey'
  | SeveralKind;
interface KindWords {
  readonly label: string;
  readonly hint: string;
  /** Columns that it may be about; absent where it needs none. */
  readonly about?: (column: Column) => boolean;
  readonly groups: boolean;
  /** False where it cannot be restricted to some rows. */
  readonly where?: false;
}

const isList = ({ type }: Column) => type === 'category' || type === 'multi';
const isNumber = ({ type }: Column) => type === 'integer' || type === 'number';
const isAnswer = (c: Column) => isList(c) || isNumber(c);
/** Group keys: columns with few declared values. */
export const isKey = (c: Column): boolean => c.type === 'category' || (isNumber(c) && c.bins !== undefined);

/** Patterns that have names. */
export const patterns: Readonly<Record<string, string>> = {
  edges: 'ties',
  triangles: 'triangles',
  '2-stars': 'pairs of ties at one record',
  '3-stars': 'triples of ties at one record',
  'clustering coefficient': 'clustering coefficient',
};

export const formKinds: Readonly<Record<FormKind, KindWords>> = {
  histogram: {
    label: 'How many gave each answer',
    hint: 'One count per declared value; all cost what one costs.',
    about: isAnswer,
    groups: true,
  },
  crosstab: {
    label: 'Two questions against each other',
    hint: 'A count for every pair of answers.',
    about: (c) => c.type === 'category',
    groups: false,
  },
  count: { label: 'How many rows', hint: 'One number, or one per group.', groups: true },
  mean: { label: 'An average', hint: 'Of a number with declared bounds.', about: isNumber, groups: true },
  sum: { label: 'A sum', hint: 'Of a number with declared bounds.', about: isNumber, groups: true },
  quantile: { label: 'Quartiles and the median', hint: 'Chosen values; the error is in ranks.', about: isNumber, groups: false },
  cdf: { label: 'A whole distribution', hint: 'How many lie at or below each value.', about: isNumber, groups: false },
  share: {
    label: 'The share with some answers',
    hint: 'Among those who answered.',
    about: (c) => c.type === 'category',
    groups: true,
  },
  pattern: { label: 'A pattern of ties', hint: 'How often it occurs in a relation.', groups: false, where: false },
  survey: { label: 'Every question at once', hint: 'A table per column, planned together.', groups: false, where: false },
  ...severalKinds,
};

/** The kinds that these columns and relations can answer. */
export const kindsFor = ({ columns, relations }: Policy): readonly FormKind[] =>
  (Object.keys(formKinds) as FormKind[]).filter((k) => {
    if (k === 'pattern') return relations !== undefined && relations.length > 0;
    if (columns.length === 0) return false;
    if (isSeveral(k))
      return columns.filter(severalKinds[k].of).length >= severalKinds[k].fewest && (k !== 'classify' || columns.some(isLabel));
    const { about } = formKinds[k];
    return about === undefined || columns.filter(about).length >= (k === 'crosstab' ? 2 : 1);
  });
export const columnsFor = ({ columns }: Policy, kind: FormKind): readonly Column[] =>
  columns.filter(formKinds[kind].about ?? (() => false));

export function firstDraft(policy: Policy): QuestionDraft {
  const kind = kindsFor(policy)[0] ?? 'count';
  const able = columnsFor(policy, kind);
  const sample = able.find(isKey)?.name;
  const column = sample ?? able[0]?.name ?? '';
  return {
    mode: 'builder',
    kind,
    column,
    second: '',
    by: '',
    values: [],
    where: '',
    whereValues: [],
    from: '',
    to: '',
    pattern: 'triangles',
    relation: policy.relations?.[0]?.name ?? '',
    several: [],
    many: '',
    json: JSON.stringify({ kind: 'count', ...(sample && { by: [sample] }) }, undefined, 2),
    sql: sample ? `SELECT "${sample}", COUNT(*)\nFROM data\nGROUP BY "${sample}"` : 'SELECT COUNT(*)\nFROM data',
  };
}

/** Changes the kind; fields that no longer fit take the first value that does. */
export function withKind(policy: Policy, draft: QuestionDraft, kind: FormKind): QuestionDraft {
  const able = columnsFor(policy, kind).map((c) => c.name);
  const column = able.includes(draft.column) ? draft.column : (able[0] ?? '');
  const second = able.find((name) => name !== column) ?? '';
  const values = kind === 'share' || kind === 'classify' ? firstValue(policy, column) : [];
  if (isSeveral(kind)) return { ...draft, kind, column, values, by: '', ...severalFor(policy, kind, column) };
  return { ...draft, kind, column, second, values, by: formKinds[kind].groups && draft.by !== column ? draft.by : '' };
}

export const firstValue = ({ columns }: Policy, name: string): readonly string[] =>
  columns
    .find((c) => c.name === name)
    ?.values?.slice(0, 1)
    .map((v) => v.value) ?? [];

/** Query in the JSON form of library, command line and service, or a text that names what is missing. */
export function draftQuestion(
  policy: Policy,
  draft: QuestionDraft,
): { readonly question: object } | { readonly missing: string } {
  if (draft.mode === 'sql')
    return draft.sql.trim() === '' ? { missing: 'Write a query.' } : { question: { sql: draft.sql.trim() } };
  if (draft.mode === 'json') return readQuestion(draft.json);
  const { kind, column, second, by, values } = draft;
  if (isSeveral(kind)) return severalQuestion(kind, draft);
  if (kind === 'survey') return { question: { survey: true } };
  if (kind === 'pattern') return { question: { pattern: `${draft.pattern} of ${draft.relation}` } };
  if (formKinds[kind].about && column === '') return { missing: 'Choose a column.' };
  if (kind === 'crosstab' && (second === '' || second === column)) return { missing: 'Choose two different columns.' };
  if (kind === 'share' && values.length === 0) return { missing: 'Choose at least one answer.' };
  const where = conditionsOf(policy, draft);
  return {
    question: {
      kind,
      ...(kind === 'crosstab' ? { columns: [column, second] } : formKinds[kind].about && { column }),
      ...(kind === 'share' && { values }),
      ...(kind === 'quantile' && { at: [0.25, 0.5, 0.75] }),
      ...(formKinds[kind].groups && by !== '' && { by: [by] }),
      ...(where.length > 0 && { where }),
    },
  };
}

/** Query in JSON; the service decides if it is valid. */
function readQuestion(text: string): { readonly question: object } | { readonly missing: string } {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null) return { missing: 'A question is an object or a list of them.' };
    // Its plan shows one step, but it pays for every step, which is more than the user confirms here.
    if ('stream' in read)
      return { missing: 'A stream pays step by step: ask for it by the library, the command line or the service.' };
    return { question: read };
  } catch {
    return { missing: 'This is no JSON yet.' };
  }
}

function conditionsOf({ columns }: Policy, { where, whereValues, from, to }: QuestionDraft): readonly object[] {
  const column = columns.find((c) => c.name === where);
  if (!column) return [];
  if (isNumber(column)) {
    const end = (op: '>=' | '<=', text: string) => {
      const value = column.date ? text : Number(text);
      return text.trim() === '' || Number.isNaN(value) ? [] : [{ column: where, op, value }];
    };
    return [...end('>=', from), ...end('<=', to)];
  }
  return whereValues.length === 0 ? [] : [{ column: where, op: 'in', values: whereValues }];
}

/** Label in the ledger; SQL is its own label. */
export function draftLabel(draft: QuestionDraft): string | undefined {
  const { mode, kind, column, second, by } = draft;
  if (mode !== 'builder' || kind === 'survey' || kind === 'pattern' || isSeveral(kind)) return undefined;
  const about = kind === 'crosstab' ? ` of ${column} and ${second}` : kind === 'count' ? '' : ` of ${column}`;
  return `${kind}${about}${formKinds[kind].groups && by !== '' ? ` by ${by}` : ''}${draft.where === '' ? '' : `, some ${draft.where}`}`.slice(
    0,
    120,
  );
}
