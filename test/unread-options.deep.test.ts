import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { type AnyKind, kinds } from '../src/app/api/kinds.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { registerStreamCommand as registerStream } from '../src/app/cli/stream.js';
import { registerSynthCommand as registerSynth } from '../src/app/cli/synth.js';
import { open } from '../src/index.js';
import { runCommand } from './command.js';
import { readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

type Register = (program: Command) => void;
const byParty = '{"kind": "count", "by": ["party"]}';
const questions = [
  ['--query', byParty],
  ['--sql', 'SELECT party, COUNT(*) FROM people GROUP BY party'],
  ['--survey'],
  ['--workload', 'tables.yaml'],
  ['--kmeans', '{"columns": ["age"], "clusters": 2}'],
  ['--classify', '{"label": "party", "positive": ["dem"], "features": ["age"]}'],
];
/** Uses of commands that plan or pay; each is answered as it stands. */
const uses: readonly (readonly [Register, ...string[]])[] = [
  ...questions.map((words) => [registerPlan, 'plan', 'policy.yaml', ...words] as const),
  ...questions.map((words) => [registerRelease, 'release', 'policy.yaml', '--yes', ...words] as const),
  ...[['--yes'], ['--yes', '--totals'], ['--plan'], ['--plan', '--totals']].map(
    (words) =>
      [registerStream, 'stream', 'policy.yaml', '--every', '1', '--order', 'week', '--query', byParty, ...words] as const,
  ),
  ...['aim', 'mst', 'privbayes'].map(
    (mode) => [registerSynth, 'synth', 'policy.yaml', '--yes', '--out', 'out.csv', '--mode', mode] as const,
  ),
];
/** Value of an option for which 1 is invalid; a wrong value ends a process that would run for ever. */
const values: Readonly<Record<string, string>> = {
  epsilon: '0.2',
  columns: 'party,age',
  except: 'media',
  cells: '2000',
  request: 'request.yaml',
  out: 'elsewhere',
  late: 'refuse',
  gaps: 'empty',
  follow: '0',
};

function openPlace(): Workshop {
  const made = openWorkshop(policyYaml({ extra: '  week: { type: integer, bounds: [0, 3], public: true }\n' }), 1);
  const rows = Array.from({ length: 40 }, (_, k) => `p${k},h${k >> 1},${k % 3 ? 'dem' : 'rep'},${20 + k},1,tv,${k >> 4}\n`);
  made.write('people.csv', `id,home,party,age,weight,media,week\n${rows.join('')}`);
  made.write('tables.yaml', 'tables:\n  - { by: [party] }\n');
  made.write('request.yaml', 'rows: 10\n');
  return made;
}

/** Runs a command; returns the options it read and its output. */
async function watched(register: Register, words: readonly string[]) {
  const seen = new Set<string | symbol>();
  shop = openPlace();
  const files = /^(policy|tables|request)\.yaml$|^out\.csv$|^elsewhere$/;
  const placed = words.map((word) => (files.test(word) ? join(shop.folder, word) : word));
  const watching: Register = (program) => {
    register(program);
    for (const command of program.commands) {
      const options = command.opts.bind(command);
      const get = (target: object, name: string | symbol) => {
        seen.add(name);
        return Reflect.get(target, name);
      };
      command.opts = <T extends object>() => new Proxy(options(), { get }) as T;
    }
  };
  const told = await runCommand(watching, ...placed).then(
    () => 'answered',
    (error: unknown) => (error as Error).message,
  );
  shop.remove();
  return { seen, told };
}

describe('an option that a use of a command does not read', () => {
  it.each(uses.map(([register, ...words]) => [words.join(' '), register, words] as const))(
    'the option is refused: %s',
    { timeout: 600_000 },
    async (_, register, words) => {
      expect((await watched(register, words)).told).toBe('answered');
      const names = new Command();
      register(names);
      const { options } = names.commands.find((command) => command.name() === words[0])!;
      for (const option of options.filter(({ long }) => !words.includes(long!) && long !== '--json')) {
        const name = option.attributeName();
        const given = option.required ? [option.long!, values[name] ?? '1'] : [option.long!];
        const { seen, told } = await watched(register, [...words, ...given]);
        // A refusal names it; several ways to ask are refused together.
        const isRefused =
          told.includes(option.long!) || told.startsWith(`${name} goes with`) || told === 'Say what to ask in exactly one way.';
        expect([option.long, isRefused || (seen.has(name) && told) || 'dropped']).not.toEqual([option.long, 'dropped']);
      }
    },
  );
});

describe('an option that requires another one, by its description', () => {
  it('the option is refused without the other', { timeout: 600_000 }, async () => {
    let found = 0;
    for (const [register, ...words] of uses) {
      const names = new Command();
      register(names);
      const { options } = names.commands.find((command) => command.name() === words[0])!;
      for (const option of options) {
        const [, other] = /^with (--[a-z-]+|aim)\b/.exec(option.description) ?? [];
        if (other === undefined || words.includes(other)) continue;
        const value = { upTo: '2', degree: '3', horizon: '2' }[option.attributeName()] ?? 'party';
        const { told } = await watched(register, [...words, option.long!, ...(option.required ? [value] : [])]);
        expect([words.join(' '), option.long, told]).not.toEqual([words.join(' '), option.long, 'answered']);
        found++;
      }
    }
    expect(found).toBeGreaterThan(60);
  });
});

describe('the option tidy', () => {
  it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
    'tidy applies to tables, and is refused where there are none: %s',
    async (name) => {
      shop = openPlace();
      const kind: AnyKind = await kinds[name]();
      const question = kind.example(await readPolicy(shop.policyFile)) as never;
      if (question === undefined) return;
      await using fugu = await open(shop.policyFile);
      const told = await fugu.release(question, { epsilon: 0.5, tidy: true }).catch((error: unknown) => error);
      const refusal = { code: 'QUERY_UNSUPPORTED', message: 'Only tables are made tidy, and this answer has none.' };
      if ('tables' in (told as object)) expect(kind.tidies).toBe(true);
      else expect(told).toMatchObject({ ...refusal, outcome: { state: 'not spent' } });
    },
  );
});
