import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AuditLog, verifyAuditLog } from './audit-log.js';

it('the audit log refuses a second writing process, and a killed process does not block the next one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-log-'));
  const other = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
  const ended = new Promise((done) => other.on('exit', done));
  const attempt = () => {
    writeFileSync(join(folder, 'writer.json'), JSON.stringify({ pid: other.pid, host: hostname() }));
  };
  attempt();
  expect(() => new AuditLog(folder)).toThrow('Another process writes to this log');
  utimesSync(join(folder, 'writer.json'), new Date(0), new Date(0));
  new AuditLog(folder).close();
  attempt();
  other.kill('SIGKILL');
  await ended;
  new AuditLog(folder).close();
  expect(verifyAuditLog(folder)).toMatchObject({ events: 0, torn: [] });
  rmSync(folder, { recursive: true });
});
