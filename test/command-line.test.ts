import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { pageOf, programOf } from '../scripts/command-line.mjs';
import { commands, groups } from '../src/app/cli/commands.js';

describe('the page docs/reference/command-line.md', () => {
  it('the page holds the help of every command (node scripts/command-line.mjs writes it)', async () => {
    const page = readFileSync(join(import.meta.dirname, '../docs/reference/command-line.md'), 'utf8');
    expect(pageOf(await programOf(Command, commands), groups)).toBe(page);
  });
});
