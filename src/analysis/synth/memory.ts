import { Fault } from '../../base/errors.js';

/** Memory of a synthesis at its peak, in whole numbers that are public. */
export interface SynthMemory {
  /** Rows of the data and bytes of each; zero rows if their number is secret. */
  readonly rows: number;
  readonly perRow: number;
  /** Cells of all tables among which rounds choose: counted, and as last computed from the model. */
  readonly counted: number;
  /** Cells of the model. */
  readonly cells: number;
  /** Synthetic rows, and their columns. */
  readonly drawn: number;
  readonly columns: number;
}

/** Bytes per cell of the model: beliefs, factors, curvature pairs. */
const perCell = 384;
/** Bytes per drawn value: its index and its text. */
const perValue = 24;

/** Approximate bytes, besides those of the program itself. Measured on Adult: experiments/synth. */
const bytesOf = ({ rows, perRow, counted, cells, drawn, columns }: SynthMemory): number =>
  rows * perRow + 16 * counted + perCell * cells + perValue * drawn * columns;

/**
 * Default for `cells`: the larger one if it fits into a quarter of the allowed memory. A small budget fills neither
 * (docs/explanation/decisions/0084).
 */
export const defaultModelCells = (memoryLimit: number): number => (4 * perCell * roomy <= memoryLimit ? roomy : narrow);
const roomy = 800_000;
const narrow = 400_000;

/** Most rows per request. */
export const maxRequestedRows = 20_000_000;

/** Most rows that fit into memory besides everything else: an estimated number of rows has no other bound. */
export const drawableRows = (held: SynthMemory, memoryLimit: number): number =>
  Math.max(1, Math.min(maxRequestedRows, Math.floor((memoryLimit - bytesOf({ ...held, drawn: 0 })) / (perValue * held.columns))));

/** Refusal for lack of memory, before anything is paid for, with the hint that saves most. */
export function refuseBeyondMemory(held: SynthMemory, memoryLimit: number): number {
  const bytes = bytesOf(held);
  if (bytes <= memoryLimit) return bytes;
  const parts = [
    [held.rows * held.perRow + 16 * held.counted, 'make rows of fewer columns'],
    [perCell * held.cells, `allow the model fewer cells (cells: ${Math.max(1_000, Math.floor(memoryLimit / 2 / perCell))})`],
    [
      perValue * held.drawn * held.columns,
      `ask for fewer rows (rows: ${Math.max(1, Math.floor(memoryLimit / 2 / perValue / held.columns))})`,
    ],
  ] as const;
  const [, most] = parts.reduce((a, b) => (b[0] > a[0] ? b : a));
  const megabytes = (n: number) => Math.ceil(n / 1e6).toLocaleString('en');
  throw new Fault(
    'ENGINE_MEMORY',
    `The rows and their model need about ${megabytes(bytes)} MB of memory; ${megabytes(memoryLimit)} MB are allowed.`,
    `It helps most to ${most}; or set FUGU_MEMORY to more if the machine has it.`,
    { details: { needed: Math.ceil(bytes), allowed: Math.floor(memoryLimit) } },
  );
}
