import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/app/cli/commands.js';
import { asTyped } from '../src/app/cli/typed.js';

const src = fileURLToPath(new URL('../src', import.meta.url));
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => [file, readFileSync(join(src, file), 'utf8')] as const);
const names = Object.keys(commands);

const program = new Command('fugu');
for (const register of Object.values(commands)) (await register())(program);
const under = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(under)];
const flagsOf = (command: Command) => under(command).flatMap(({ options }) => options.map(({ long }) => long));
const every = new Set([...flagsOf(program), '--help', '--version']);

/** Commands as sentences name them: "fugu release POLICY --survey". */
const expected =
  /(?<![\w./-])fugu ([a-z]+)((?: (?:[A-Z]+|[a-z]+\.yaml|amend|verify|recover|backup|restore|ties|columns|--[a-z-]+(?: [A-Z\d.]+)?))*)/g;
const inQuotes = (text: string) => [...text.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].map(([quoted]) => quoted);
const named = sources.flatMap(([file, text]) =>
  inQuotes(text).flatMap((sentence) =>
    [...sentence.matchAll(expected)].map(([, command, rest]) => ({ file, command: command!, rest: rest! })),
  ),
);

describe('commands in messages to people', () => {
  it('every command in a message exists, with its options', () => {
    const known = named.filter(({ command }) => names.includes(command));
    expect(known.length).toBeGreaterThan(25);
    for (const { file, command, rest } of known) {
      const flags = flagsOf(program.commands.find((c) => c.name() === command)!);
      for (const [flag] of rest.matchAll(/--[a-z-]+/g))
        expect([file, command, flag, flags.includes(flag)]).toEqual([file, command, flag, true]);
    }
    const strange = named.filter(({ command, rest }) => !names.includes(command) && rest !== '');
    expect(strange).toEqual([]);
  });

  it('every option in a message exists', () => {
    const flags = sources
      .filter(([file]) => /^(app\/(api|cli)|policy|data\/terms|release|analysis\/survey|query)\//.test(file))
      .flatMap(([file, text]) =>
        inQuotes(text).flatMap((quoted) => [...quoted.matchAll(/(?<=^.|[\s(])--[a-z][a-z-]+/g)].map(([flag]) => [file, flag])),
      );
    expect(flags.length).toBeGreaterThan(100);
    expect(flags.filter(([, flag]) => !every.has(flag!))).toEqual([]);
  });

  it('every command is printed as it was typed', () => {
    for (const name of names) expect(asTyped(`Run "fugu ${name} POLICY".`, './fugu')).toBe(`Run "./fugu ${name} POLICY".`);
  });
});
