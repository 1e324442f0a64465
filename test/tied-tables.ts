/**
 * Small data sets of people, their visits and stays, and public clinics, as files, to measure the effect of one or more tied people.
 * Nothing of the product is used here.
 */

/** Numbers that come the same way every time. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 12345) % 4294967296;
  }
  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 1831565813) % 4294967296;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 16), 569420461);
    x = Math.imul(x ^ (x >>> 15), 1935289751);
    return ((x ^ (x >>> 15)) >>> 0) / 4294967296;
  }
  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1));
  }
  one<T>(list: readonly T[]): T {
    return list[this.upTo(list.length - 1)]!;
  }
  some<T>(list: readonly T[], part: number): T[] {
    return list.filter(() => this.next() < part);
  }
}

type Line = readonly string[];
/** Rows of one person: in the data itself, and in other tables. */
export interface PersonCells {
  readonly people: readonly Line[];
  readonly visits: readonly Line[];
  readonly stays: readonly Line[];
}
export interface Tied {
  readonly name: string;
  readonly dependence: string;
  readonly protect?: string;
  /** Odds ratio of ties between people of one home, or friends; absent: no ties. */
  readonly oddsRatio?: number;
  readonly by?: 'home' | 'friends';
  /** Number of persons that change at once. */
  readonly moving: number;
  readonly pairs?: true;
}

export const declarations: readonly Tied[] = [
  { name: 'strangers', dependence: 'none', moving: 1 },
  { name: 'somebody who is there or not', dependence: 'none', protect: ', neighbours: add-remove', moving: 1 },
  { name: 'homes of copies', dependence: '[{ kind: groups, by: home }]', by: 'home', oddsRatio: Infinity, moving: 3 },
  { name: 'homes', dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]', by: 'home', oddsRatio: 4, moving: 3 },
  { name: 'homes of which two are used', dependence: '[{ kind: groups, by: home, maxUsed: 2 }]', by: 'home', oddsRatio: Infinity, moving: 3 }, // biome-ignore format: one line
  { name: 'friends', dependence: '[{ kind: ties, relation: friend, oddsRatio: 3 }]', by: 'friends', oddsRatio: 3, moving: 3 },
  { name: 'friends who copy, one of whom is used', dependence: '[{ kind: ties, relation: friend, maxTies: 1 }]', by: 'friends', oddsRatio: Infinity, moving: 3 }, // biome-ignore format: one line
  { name: 'homes and friends', dependence: '[{ kind: groups, by: home, oddsRatio: 2 }, { kind: ties, relation: friend, oddsRatio: 2 }]', by: 'home', oddsRatio: 2, moving: 3 }, // biome-ignore format: one line
  { name: 'pairs of values', dependence: 'none', protect: ', pairs: { age: { within: 5, missing: apart }, same: [region] }', moving: 1, pairs: true }, // biome-ignore format: one line
];

/** The limits of one policy. */
export interface Limits {
  readonly people: number;
  readonly visits: number;
  readonly stays: number;
  /** Visits in one month. */
  readonly monthly?: number;
  /** No two stays of one person in one clinic. */
  readonly keyed: boolean;
}
export const limitsOf = (dice: Dice): Limits => ({
  people: 1 + dice.upTo(1),
  visits: 1 + dice.upTo(2),
  stays: 1 + dice.upTo(2),
  ...(dice.next() < 0.5 && { monthly: 1 + dice.upTo(1) }),
  keyed: dice.next() < 0.5,
});

export const tablesPolicy = (
  { dependence, protect = '', pairs }: Tied,
  limits: Limits,
): string => `data: { source: people.csv${pairs ? '' : ', links: [clinic]'} }
protect: { secret: person, unit: pid, maxRows: ${limits.people}${protect} }
budget: { epsilon: 1 }
population: town
ledger: ledger.db
dependence: ${dependence}
columns:
  region: { type: category, values: [n, s] }
  age: { type: integer, bounds: [0, 40] }
${
  pairs
    ? ''
    : `relations:
  friend: { table: friends.csv, columns: [a, b], domain: 50, symmetric: true }
tables:
  visits:
    source: visits.csv
    unit: pid
    maxRows: ${limits.visits}
    links: [clinic]${limits.monthly === undefined ? '' : `\n    period: { column: month, maxRows: ${limits.monthly} }`}
    columns:
      month: { type: category, values: [jan, feb, mar] }
      kind: { type: category, values: [er, gp] }
      cost: { type: integer, bounds: [-10, 30] }
  stays:
    source: stays.csv
    unit: who
    maxRows: ${limits.stays}${limits.keyed ? '\n    key: clinic' : '\n    links: [clinic]'}
    columns:
      nights: { type: integer, bounds: [0, 7] }
      ward: { type: category, values: [w1, w2] }
  clinics: { source: clinics.csv, key: clinic, public: true, columns: { size: { type: category, values: [small, large] } } }
`
}`;

const clinic = (dice: Dice) => dice.one(['c1', 'c2', 'c1', 'c3', 'cx', '']);
/** Cells at the ends of the declared range are more frequent than inside. */
export function drawPerson(dice: Dice, pid: string, home: string, pairs = false): PersonCells {
  const rows = (most: number, row: () => Line): Line[] => {
    const own = Array.from({ length: dice.upTo(most) }, row);
    return own.length > 0 && dice.next() < 0.3 ? [...own, own[0]!] : own;
  };
  const person = (): Line => [pid, home, dice.one(['n', 's', 'n', 's', 'x', '']), dice.one(['0', '40', '3', '17', '99', '-5', '']), pairs ? '' : clinic(dice)]; // biome-ignore format: one line
  const spread = dice.next() < 0.5;
  const [end, kind, month] = [dice.one(['30', '-10', '99']), dice.one(['er', 'gp']), dice.one(['jan', 'feb'])];
  return {
    people: [person(), ...(pairs && dice.next() < 0.7 ? [] : rows(2, person))],
    visits: rows(5, () => [
      pid,
      clinic(dice),
      spread ? dice.one(['jan', 'feb', 'mar', 'x', '']) : month,
      spread ? dice.one(['er', 'gp', 'zz', '']) : kind,
      spread ? dice.one(['-10', '0', '7', '30', '99', '']) : end,
    ]),
    stays: rows(4, () => [pid, clinic(dice), dice.one(['0', '7', '7', '12', '']), dice.one(['w1', 'w2', ''])]),
  };
}

/** As many rows as before, of which each moved along a pair: up to five years, in the same region, whether there is an age or not as it was. */
export function movedPerson(dice: Dice, rows: PersonCells): PersonCells {
  const moved = (age: string) => {
    if (age === '' || !/^-?\d+$/.test(age)) return age;
    const at = Math.min(40, Math.max(0, Number(age)));
    return `${Math.min(40, Math.max(0, at + dice.one([-5, 5, 5, 2, 0])))}`;
  };
  return { ...rows, people: rows.people.map(([pid, home, region, age, c]) => [pid!, home!, region!, moved(age!), c!]) };
}

const csv = (head: string, lines: readonly Line[]) => `${[head, ...lines.map((line) => line.join(','))].join('\n')}\n`;
export interface TableFiles {
  readonly [name: string]: string;
}
export function tableFiles(all: readonly PersonCells[], friends: readonly Line[], pairs = false): TableFiles {
  const of = (table: keyof PersonCells) => all.flatMap((rows) => rows[table]);
  const people = { 'people.csv': csv('pid,home,region,age,clinic', of('people')) };
  if (pairs) return people;
  return {
    ...people,
    'friends.csv': csv('a,b', friends),
    'visits.csv': csv('pid,clinic,month,kind,cost', of('visits')),
    'stays.csv': csv('who,clinic,nights,ward', of('stays')),
    'clinics.csv': csv('clinic,size', [['c1', 'small'], ['c2', 'large'], ['c2', 'small'], ['c3', '']]), // biome-ignore format: one line
  };
}

/** Source of a statement: words after FROM, the column of persons, and columns by content. */
interface From {
  readonly from: string;
  readonly who: string;
  readonly numbers: readonly string[];
  readonly codes: readonly string[];
  /** Number columns with bounds wide enough for ranges. */
  readonly wide: readonly string[];
}
const perPerson = (dice: Dice) => {
  const where = dice.one(['', " WHERE kind = 'er'", ' WHERE cost > 0', ' WHERE clinic IS NOT NULL'].slice(0, 3));
  return `(SELECT pid, COUNT(*) AS often, SUM(cost) AS spent, MAX(cost) AS top, MODE(kind) AS usual FROM visits${where} GROUP BY pid)`;
};
const fromsOf = (dice: Dice): readonly From[] => [
  { from: 'people p', who: 'p.pid', numbers: ['p.age'], codes: ['p.region'], wide: ['p.age'] },
  { from: 'visits v', who: 'v.pid', numbers: ['v.cost'], codes: ['v.kind', 'v.month'], wide: ['v.cost'] },
  { from: 'visits v JOIN people p ON v.pid = p.pid', who: 'p.pid', numbers: ['v.cost', 'p.age'], codes: ['v.kind', 'p.region', 'v.month'], wide: ['v.cost'] }, // biome-ignore format: one line
  { from: 'people p LEFT JOIN visits v ON p.pid = v.pid', who: 'p.pid', numbers: ['v.cost', 'p.age'], codes: ['v.kind', 'p.region'], wide: ['p.age'] }, // biome-ignore format: one line
  { from: 'visits v JOIN stays s ON v.pid = s.who AND v.clinic = s.clinic', who: 'v.pid', numbers: ['v.cost', 's.nights'], codes: ['v.kind', 's.ward'], wide: ['v.cost'] }, // biome-ignore format: one line
  { from: 'visits v LEFT JOIN stays s ON v.pid = s.who', who: 'v.pid', numbers: ['v.cost', 's.nights'], codes: ['v.month', 's.ward'], wide: ['v.cost'] }, // biome-ignore format: one line
  { from: 'people p JOIN visits v ON p.pid = v.pid LEFT JOIN stays s ON s.who = p.pid', who: 'p.pid', numbers: ['s.nights', 'p.age'], codes: ['p.region', 'v.kind', 's.ward'], wide: ['p.age'] }, // biome-ignore format: one line
  { from: 'visits v LEFT JOIN clinics c ON v.clinic = c.clinic', who: 'v.pid', numbers: ['v.cost'], codes: ['c.size', 'v.kind'], wide: ['v.cost'] }, // biome-ignore format: one line
  { from: 'people p JOIN clinics c ON p.clinic = c.clinic JOIN stays s ON s.who = p.pid', who: 'p.pid', numbers: ['s.nights', 'p.age'], codes: ['c.size', 'p.region'], wide: ['p.age'] }, // biome-ignore format: one line
  { from: 'visits v JOIN visits w ON v.pid = w.pid', who: 'v.pid', numbers: ['v.cost', 'w.cost'], codes: ['v.kind', 'w.month'], wide: ['w.cost'] }, // biome-ignore format: one line
  { from: `${perPerson(dice)} f`, who: 'f.pid', numbers: ['f.spent', 'f.top', 'f.often'], codes: ['f.usual'], wide: ['f.spent'] },
  { from: `people p LEFT JOIN ${perPerson(dice)} f ON p.pid = f.pid`, who: 'p.pid', numbers: ['f.spent', 'f.often', 'p.age'], codes: ['f.usual', 'p.region'], wide: ['f.spent'] }, // biome-ignore format: one line
  { from: `stays s JOIN ${perPerson(dice)} f ON s.who = f.pid`, who: 's.who', numbers: ['f.top', 's.nights'], codes: ['s.ward', 'f.usual'], wide: ['f.spent'] }, // biome-ignore format: one line
];
const own: readonly From[] = [
  { from: 'people', who: 'pid', numbers: ['age'], codes: ['region'], wide: ['age'] },
  { from: 'people p', who: 'p.pid', numbers: ['p.age'], codes: ['p.region'], wide: ['p.age'] },
  { from: '(SELECT pid, COUNT(*) AS often, SUM(age) AS years, MODE(region) AS usual FROM people GROUP BY pid) f', who: 'f.pid', numbers: ['f.years', 'f.often'], codes: ['f.usual'], wide: ['f.years'] }, // biome-ignore format: one line
  { from: 'people p JOIN people q ON p.pid = q.pid', who: 'p.pid', numbers: ['p.age', 'q.age'], codes: ['p.region', 'q.region'], wide: ['q.age'] }, // biome-ignore format: one line
];

export function drawStatement(dice: Dice, pairs = false): string {
  const { from, who, numbers, codes, wide } = dice.one(pairs ? own : fromsOf(dice));
  const number = () => dice.one(numbers);
  const test = () => dice.one([`${number()} > ${dice.upTo(9)}`, `${number()} BETWEEN 1 AND 20`, `${dice.one(codes)} IS NULL`, `NOT (${number()} < 5 OR ${dice.one(codes)} IS NULL)`, `${number()} IS NOT NULL`]); // biome-ignore format: one line
  const rows = dice.one([
    () => 'COUNT(*)',
    () => `COUNT(DISTINCT ${who})`,
    () => `COUNT(DISTINCT ${dice.one(codes)})`,
    () => `COUNT(${number()})`,
    () => `SUM(${number()})`,
    () => `AVG(${number()})`,
    () => `STDDEV(${number()})`,
    () => `MEDIAN(${number()})`,
    () => `SUM(${number()} * 3 - 1)`,
    () => `SUM(CASE WHEN ${test()} THEN 2 ELSE 0 END)`,
    () => `COUNT(*) FILTER (WHERE ${test()})`,
  ])();
  const by = dice.one([() => [], () => [], () => [dice.one(codes)], () => [dice.one(codes), `FLOOR(${dice.one(wide)} / 10)`]])();
  const where = dice.next() < 0.4 ? ` WHERE ${test()}` : '';
  return `SELECT ${[...by, rows].join(', ')} FROM ${from}${where}${by.length > 0 ? ` GROUP BY ${by.join(', ')}` : ''}`;
}
