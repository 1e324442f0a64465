import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSchema, formatOf } from './schema.js';
import { connect, type SqliteConnection, transaction } from './sqlite.js';

it('a ledger that another process creates during the format check is not taken for a foreign database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-schema-'));
  const [first, other] = [0, 1].map(() => connect(join(folder, 'ledger.db'))) as [SqliteConnection, SqliteConnection];
  try {
    let created = false;
    const interrupted: SqliteConnection = {
      ...first,
      query: (sql) => {
        if (sql.includes('user_version') && !created) {
          created = true;
          transaction(other, 'IMMEDIATE', () => createSchema(other));
        }
        return first.query(sql);
      },
    };
    expect(formatOf(interrupted, 'ledger.db')).toBe('none');
    expect(created).toBe(true);
    expect(formatOf(first, 'ledger.db')).toBe('present');
  } finally {
    first.close();
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
