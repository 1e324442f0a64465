import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boundPairs } from '../../src/analysis/learn/odds/choose-pairs.js';
import { type LearnedOdds, learnOdds } from '../../src/app/api/odds.js';
import { csvOf } from '../../src/app/report/csv.js';
import { readStructure } from '../../src/data/engine/structure.js';
import { Bytes } from '../../src/data/statfile/bytes.js';
import { readZip, unzipped } from '../../src/data/statfile/xlsx/zip.js';
import { openEngine } from '../../src/data/terms/open.js';
import { type ReferenceTie, sources } from './ties.js';

export interface Measured {
  readonly tie: ReferenceTie;
  readonly pairs: number;
  readonly odds: LearnedOdds;
}

/** The pairs of a tie, and the output of `fugu learn ties --public` for them. */
export async function measure(folder: URL, tie: ReferenceTie): Promise<Measured> {
  const scratch = mkdtempSync(join(tmpdir(), 'fugu-reference-'));
  try {
    const pairs = (await pairsOf(folder, tie, scratch)).filter(([a, b]) => a !== null && b !== null);
    const file = join(scratch, 'pairs.csv');
    writeFileSync(file, csvOf([['a', 'b'], ...pairs]));
    return { tie, pairs: pairs.length, odds: await learnOdds(file, { directed: tie.directed }) };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

type Pair = readonly [string | null, string | null];

async function pairsOf(folder: URL, { data, sql, edges }: ReferenceTie, scratch: string): Promise<readonly Pair[]> {
  const source = sources[data];
  const file =
    'entry' in source
      ? await unpacked(fileURLToPath(new URL(source.file, folder)), source.entry, scratch)
      : fileURLToPath(new URL(source.file, folder));
  const found = await read(file, sql.trim());
  if (edges === undefined) return found;
  const ties = await read(fileURLToPath(new URL(edges, folder)), 'SELECT a, b FROM fugu_data ORDER BY a, b');
  const values = new Map(found);
  return boundPairs(
    ties.map(([a, b]) => [`${a}`, `${b}`]),
    1,
    'reference ties',
  ).map(([a, b]) => [values.get(a) ?? null, values.get(b) ?? null]);
}

async function read(source: string, sql: string): Promise<Pair[]> {
  const engine = await openEngine({ source });
  try {
    const rows: Pair[] = [];
    const text = (cell: unknown) => (cell === null || cell === undefined ? null : `${cell}`);
    for await (const [a, b] of readStructure(await engine.snapshot(), { sql, values: [] })) rows.push([text(a), text(b)]);
    return rows;
  } finally {
    await engine.close();
  }
}

async function unpacked(archive: string, entry: string, scratch: string): Promise<string> {
  const bytes = new Bytes(archive);
  try {
    const parts: string[] = [];
    for await (const part of unzipped(bytes, readZip(bytes).get(entry)!, 'sheetBytes')) parts.push(part);
    const file = join(scratch, entry);
    writeFileSync(file, parts.join(''));
    return file;
  } finally {
    bytes.close();
  }
}
