/** One row of an edge table. */
export interface TieRow {
  readonly a: string;
  readonly b: string;
  readonly oddsRatio?: number;
  readonly similarity?: number;
}

const shown = (x: number): string => (x === Number.POSITIVE_INFINITY ? 'inf' : `${x}`);
const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** CSV with a column for every attribute of the ties; input of `relations:` and `oddsColumn:`. */
export function tieTable(ties: readonly TieRow[]): string {
  const figures = (['oddsRatio', 'similarity'] as const).filter((name) => ties.some((t) => t[name] !== undefined));
  const lines = ties.map((t) => [quoted(t.a), quoted(t.b), ...figures.map((name) => shown(t[name] ?? 1))].join(','));
  return `${['a', 'b', ...figures].join(',')}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Rounds up to so many significant digits. */
export function upward(x: number, digits: number): number {
  if (!Number.isFinite(x) || x <= 0) return x;
  const unit = 10 ** (Math.floor(Math.log10(x)) - digits + 1);
  const rounded = Number((Math.ceil(x / unit) * unit).toPrecision(digits));
  return rounded >= x ? rounded : Number((rounded + unit).toPrecision(digits));
}
