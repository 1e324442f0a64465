import type { Snapshot } from '../src/data/engine/engine.js';

/** The same without a class, so that a test can replace a part of it. */
export const plainly = (data: Snapshot): Snapshot => ({
  dialect: data.dialect,
  source: data.source,
  whole: data.whole,
  room: data.room,
  id: () => data.id(),
  columns: (table) => data.columns(table),
  beneath: (values) => data.beneath(values),
  size: () => data.size(),
  rows: (statement) => data.rows(statement),
  count: (statement) => data.count(statement),
  stream: (statement) => data.stream(statement),
  close: () => data.close(),
});
