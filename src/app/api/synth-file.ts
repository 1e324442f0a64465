import type { SynthColumn } from '../../analysis/synth/rows.js';

/** Synthetic rows as a Parquet file. */
export async function synthParquet(columns: readonly SynthColumn[]): Promise<Uint8Array> {
  const { parquetOf } = await import('../../data/engine/duckdb/parquet.js');
  return parquetOf(columns);
}
