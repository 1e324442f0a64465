import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { asTyped, inShell, typed } from './typed.js';

describe('the command name as typed', () => {
  it.each<[NodeJS.ProcessEnv, string]>([
    [{}, 'fugu'],
    [{ FUGU_COMMAND: './fugu' }, './fugu'],
    [{ FUGU_COMMAND: '../tools/fugu', PATH: '/usr/bin' }, '../tools/fugu'],
    [{ FUGU_COMMAND: '/opt/bin/fugu', PATH: '/usr/bin:/opt/bin' }, 'fugu'],
    [{ npm_command: 'exec' }, 'npx fugu'],
  ])('the environment %j gives the command name %s', (env, command) => expect(typed(env)).toBe(command));

  it('the typed command name replaces "fugu" in every hint to run a command, and nowhere else', () => {
    const sentence =
      'Look with "fugu confirm p.yaml", then "fugu ledger POLICY amend"; run "fugu --help". Data of fugu people in ./fugu init.';
    expect(asTyped(sentence, './fugu')).toBe(
      'Look with "./fugu confirm p.yaml", then "./fugu ledger POLICY amend"; run "./fugu --help". Data of fugu people in ./fugu init.',
    );
    expect(asTyped(sentence, 'fugu')).toBe(sentence);
  });

  it('names are quoted where a shell would read them as something else', () => {
    expect(['home', 'out/policy.yaml', 'Haushalt (Nr.)', "it's", ''].map(inShell)).toEqual([
      'home',
      'out/policy.yaml',
      "'Haushalt (Nr.)'",
      "'it'\\''s'",
      "''",
    ]);
  });

  it('the fugu script passes its own name to the program', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fugu-typed-'));
    try {
      copyFileSync(fileURLToPath(new URL('../../../fugu', import.meta.url)), join(folder, 'fugu'));
      for (const made of ['dist/start', 'node_modules/.bin', 'src']) mkdirSync(join(folder, made), { recursive: true });
      writeFileSync(join(folder, 'package-lock.json'), '');
      writeFileSync(join(folder, 'node_modules/.package-lock.json'), '');
      writeFileSync(join(folder, 'dist/.built'), '');
      writeFileSync(join(folder, 'dist/start/main.js'), 'console.log(process.env.FUGU_COMMAND)');
      const { FUGU_COMMAND: _, ...env } = process.env;
      expect(execFileSync('./fugu', [], { cwd: folder, env, encoding: 'utf8' }).trim()).toBe('./fugu');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
