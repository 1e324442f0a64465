import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce } from '../fugu.js';
import { type Call, type Disk, type DiskFault, openDisk } from './disk.js';
import { judgeAgain } from './oracle.js';
import { scenarios } from './scenarios.js';
import { faultText, type SweepRun, summary, sweep } from './sweep.js';

/** False while outcomes after a fault may be misreported. Overspending, loss and torn files are checked either way. */
const outcomesAreReported = true;

/** Every fault at every call takes a quarter of an hour: npm run torture. */
const torture = process.env.FUGU_TORTURE !== undefined;
const minutes = Number(process.env.FUGU_TORTURE_MINUTES ?? 20);

const failures: readonly DiskFault[] = [
  { mode: 'fail', errno: 'EIO' },
  { mode: 'fail', errno: 'ENOSPC' },
  { mode: 'lasting', errno: 'ENOSPC' },
  { mode: 'lasting', errno: 'EIO' },
  { mode: 'lasting', errno: 'EROFS' },
  { mode: 'short' },
];
const deaths: readonly DiskFault[] = [{ mode: 'kill' }, { mode: 'tear' }, { mode: 'after' }];
const spoiled: readonly DiskFault[] = [
  { mode: 'spoil', victim: 'people.csv' },
  { mode: 'spoil', victim: 'policy.yaml' },
];

let disk: Disk;
const all: SweepRun[] = [];
beforeAll(() => {
  builtOnce();
  disk = openDisk();
  if (disk.reaches !== 'every call')
    process.stderr.write(
      '\n*** No C compiler (cc) here: faults are planted below Node only. The ledger goes through none of these calls and is NOT tested. ***\n',
    );
});
afterAll(() => {
  disk.remove();
  if (torture) process.stderr.write(`\n${summary(all)}\n`);
});

const unkept = (runs: readonly SweepRun[]): string[] =>
  runs.flatMap((r) =>
    r.broken
      .filter((b) => outcomesAreReported || (b.promise !== 'silent' && b.promise !== 'twice'))
      .map((b) => `${r.scenario}, call ${r.at} (${r.call.what} ${r.call.where}), ${faultText(r.fault)}: ${b.promise}: ${b.what}`),
  );

const named = (name: string) => scenarios.find((s) => s.name === name)!;

/** In the suite the last call of each kind on each file, every `step`-th of these, and one fault for each, in turn. */
const slice =
  (faults: readonly DiskFault[], step = 1) =>
  (call: Call, at: number, calls: readonly Call[]) => {
    const last = (c: Call, k: number) => calls.findLastIndex((o) => o.what === c.what && o.where === c.where) === k;
    const before = calls.slice(0, at - 1).filter(last).length;
    return last(call, at - 1) && before % step === 0 ? [faults[(before / step) % faults.length]!] : [];
  };

describe.skipIf(torture)('a disk that fails at one call', () => {
  const full: DiskFault = { mode: 'lasting', errno: 'ENOSPC' };

  it('a policy file stays as it was or becomes as it should be, and the command reports which', async () => {
    const runs = await sweep(disk, named('confirm'), { faults: () => [full], lanes: 2 });
    expect(runs.map((r) => r.call.what)).toEqual(expect.arrayContaining(['open', 'write', 'fsync', 'rename']));
    expect(runs.filter((r) => r.end === 'told').length).toBeGreaterThanOrEqual(4);
    expect(runs.flatMap((r) => r.broken)).toEqual([]);
  });

  it('the ledger loses nothing it holds and admits nothing it should refuse', async (context) => {
    context.skip(disk.reaches !== 'every call', 'needs a C compiler');
    const runs = await sweep(disk, named('next release'), { faults: slice([...deaths, ...failures], 2), lanes: 2 });
    expect(runs.length).toBeGreaterThan(3);
    expect(unkept(runs)).toEqual([]);
  });

  it('a fault in the process that reads an index for another is not taken for damage: nothing is rebuilt without it', async (context) => {
    context.skip(disk.reaches !== 'every call', 'needs a C compiler');
    const faults = slice([{ mode: 'fail', errno: 'EIO' }, { mode: 'kill' }], 3);
    const runs = await sweep(disk, named('recover from the index, reading'), { faults, again: (at) => at < 3, lanes: 2 });
    expect(runs.filter((r) => r.end === 'told').length).toBeGreaterThan(1);
    expect(unkept(runs)).toEqual([]);
  });

  it('a fault below Node only is noticed too, even without a C compiler', async () => {
    const node = openDisk('calls of Node');
    try {
      const faults = ({ what }: Call): readonly DiskFault[] => (what === 'write' || what === 'rename' ? [full] : []);
      const runs = await sweep(node, named('confirm'), { faults });
      expect(runs.map((r) => [r.call.what, r.end])).toEqual([
        ['write', 'told'],
        ['rename', 'told'],
      ]);
      expect(runs.flatMap((r) => r.broken)).toEqual([]);
    } finally {
      node.remove();
    }
  });
});

describe.runIf(torture)('a disk that fails at any call', () => {
  const end = Date.now() + minutes * 60_000;
  it.each(scenarios)('the command $name keeps its promises', { timeout: 3_600_000 }, async (scenario) => {
    const spoils = scenario.again === judgeAgain ? spoiled : [];
    const faults = (_: Call, at: number) => [...failures, ...deaths, ...(at % 5 === 0 ? spoils : [])];
    const left = scenarios.length - scenarios.indexOf(scenario);
    const until = Date.now() + (end - Date.now()) / left;
    const onRun = (run: SweepRun) => {
      all.push(run);
      for (const line of unkept([run])) process.stderr.write(`${line}\n`);
    };
    const runs = await sweep(disk, scenario, { faults, again: (at) => at % 3 === 0, lanes: 2, until, onRun });
    process.stderr.write(`\n${summary(runs)}\n`);
    expect(runs.length).toBeGreaterThan(0);
    expect(unkept(runs)).toEqual([]);
  });
});
