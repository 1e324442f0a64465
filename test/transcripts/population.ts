/** Small populations, their files, and the meaning of cells, written from the policy documentation alone, without code of the product. */

export interface Row {
  readonly id: number;
  readonly home: number;
  /** As the cell is written, which may lie beyond the declared weeks. */
  readonly week: number;
  /** 'a', 'b' or no answer. */
  readonly g: string;
  /** As the cell is written; '' for no answer. */
  readonly x: string;
}

/** Declaration of the number column: its grid begins at zero. */
export interface NumberDeclaration {
  readonly type: 'integer' | 'number';
  readonly step: number;
  readonly high: number;
}

export type PairDeclaration = { readonly within: number } | { readonly edges: readonly number[] };

/** Constants of one transcript. */
export interface PopulationDesign {
  readonly secret: 'row' | 'person';
  readonly neighbours: 'replace' | 'add-remove';
  readonly maxRows: number;
  readonly x: NumberDeclaration;
  readonly pairs?: PairDeclaration;
}

/** Terms that amendments change. */
export interface AmendableTerms {
  readonly epsilon: number;
  readonly delta: number;
  readonly weekPublic: boolean;
  /** Members of a home answer alike: tied by a column, or by a relation in its own file. */
  readonly ties: 'none' | 'groups' | 'relation';
}

export type PopulationFile = 'A' | 'B';
export type PopulationFiles = Readonly<Record<PopulationFile, readonly Row[]>>;
export const weeks = [0, 1, 2, 3];
export const writtenWeeks = [...weeks, ...weeks, ...weeks, -1, 4, 60];

/** Public part of a public week: clamped from below only. */
export const publicWeek = ({ week }: Pick<Row, 'week'>): number => Math.max(week, weeks[0]!);

/** The week that a cell is counted as: clamped to the declared ones. */
export const weekOf = ({ week }: Pick<Row, 'week'>): number => Math.min(Math.max(week, weeks[0]!), weeks.at(-1)!);

/** Ties within homes, as a chain through each home. */
export function tiesCsv(files: PopulationFiles): string {
  const homes = new Map<number, number[]>();
  for (const { id, home } of [...files.A, ...files.B]) {
    const members = homes.get(home) ?? [];
    if (!members.includes(id)) members.push(id);
    homes.set(home, members);
  }
  const lines = [...homes.values()].flatMap((members) => members.slice(1).map((id, k) => `p${members[k]},p${id}\n`));
  return `x,y\n${lines.join('')}`;
}

export const csv = (rows: readonly Row[]): string =>
  `id,home,week,g,x\n${rows.map(({ id, home, week, g, x }) => `p${id},h${home},${week},${g},${x}\n`).join('')}`;

/** The number of steps a cell is read as: clamped, rounded to the nearest step, halves to even; undefined for no answer. */
export function stepsRead({ step, high }: NumberDeclaration, cell: string): number | undefined {
  if (cell === '') return undefined;
  const at = Math.min(Math.max(Number(cell), 0), high) / step;
  const below = Math.floor(at);
  const part = at - below;
  return part < 0.5 || (part === 0.5 && below % 2 === 0) ? below : below + 1;
}

/** True if two cells are a declared pair, by the values they are read as. A missing answer pairs with a missing answer only. */
export function isDeclaredPair(
  declared: NumberDeclaration,
  pairs: PairDeclaration | undefined,
  cell: string,
  other: string,
): boolean {
  if (pairs === undefined) return true;
  const [p, q] = [stepsRead(declared, cell), stepsRead(declared, other)];
  if (p === undefined || q === undefined) return p === q;
  if ('within' in pairs) return Math.abs(p - q) * declared.step <= pairs.within + 1e-12;
  return pairs.edges.every((edge) => p * declared.step < edge === q * declared.step < edge);
}

/** Cells with halves between the steps and numbers beyond the bounds. */
export function cells({ step, high }: NumberDeclaration): readonly string[] {
  const made: string[] = ['', String(-step), String(high + 3 * step)];
  for (let at = 0; at <= high; at += step / 2) made.push(String(at));
  return made;
}

export function populationPolicy(
  design: PopulationDesign,
  terms: AmendableTerms,
  at: { file: PopulationFile; population: string; ledger: string },
): string {
  const { secret, neighbours, maxRows, x, pairs } = design;
  const { epsilon, delta, weekPublic, ties } = terms;
  const near = pairs && ('within' in pairs ? `within: ${pairs.within}` : `partition: {edges: [${pairs.edges.join(', ')}]}`);
  const protect = [
    `secret: ${secret}`,
    'unit: id',
    ...(secret === 'person' ? [`maxRows: ${maxRows}`] : []),
    ...(neighbours === 'add-remove' ? ['neighbours: add-remove'] : []),
    ...(near ? [`pairs: {x: {${near}, missing: apart}}`] : []),
  ];
  const dependence = {
    none: 'none',
    groups: '[{ kind: groups, by: home, oddsRatio: inf }]',
    relation: '[{ kind: ties, relation: friend, oddsRatio: inf }]',
  }[ties];
  return [
    `data: { source: ${at.file}.csv }`,
    `population: ${at.population}`,
    `ledger: ${at.ledger}`,
    `protect: { ${protect.join(', ')} }`,
    `budget: { epsilon: ${epsilon}${delta > 0 ? `, delta: ${delta}` : ''} }`,
    `dependence: ${dependence}`,
    ...(ties === 'relation' ? ['relations: { friend: { table: ties.csv, columns: [x, y], domain: 90, symmetric: true } }'] : []),
    'columns:',
    `  week: { type: integer, bounds: [0, ${weeks.at(-1)}]${weekPublic ? ', public: true' : ''} }`,
    '  g: { type: category, values: [a, b] }',
    `  x: { type: ${x.type}, bounds: [0, ${x.high}]${x.type === 'number' || x.step !== 1 ? `, step: ${x.step}` : ''} }`,
    '',
  ].join('\n');
}
