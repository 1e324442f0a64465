import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../fugu.js';
import {
  type First,
  judgeAgain,
  judgeAmend,
  judgeFiles,
  judgeRebuilt,
  judgeRebuiltAgain,
  judgeRelease,
  type LedgerSpend,
  type PlantedFault,
  type State,
} from './oracle.js';

const booked = (sequence: number, settled: boolean, key = `k${sequence}`): LedgerSpend => ({
  sequence,
  settled,
  key,
  epsilon: 1,
});
const state = (entries: readonly LedgerSpend[], files: Record<string, string> = {}, terms = 'old'): State => ({
  files: new Map(Object.entries(files)),
  ledger: { entries, terms, told: entries.filter((e) => e.settled).map((e) => e.sequence) },
});
const resultWith = (code: number, document: object): CommandResult => ({
  code,
  signal: null,
  out: JSON.stringify(document),
  err: '',
});
const fault = (exit: number, error: object): CommandResult =>
  resultWith(exit, { error: { code: 'DISK_FAILED', hint: '', ...error } });
const answer = (entry: number, more: object = {}): CommandResult =>
  resultWith(0, { tables: [], receipt: { ledger: { entry, ...more } } });
const before = state([booked(2, true)]);
const planted: PlantedFault = { mode: 'fail', errno: 'EIO', call: { what: 'fsync', where: 'ledger.db' }, sound: before };
const promises = (result: CommandResult, after: State) => judgeRelease(before, result, after, planted).map((b) => b.promise);

describe('the oracle of a release', () => {
  const unanswered = state([booked(2, true), booked(3, false)]);
  const recorded = state([booked(2, true), booked(3, true)]);

  it('the oracle accepts each of the three outcomes if it is true', () => {
    expect(promises(fault(5, {}), before)).toEqual([]);
    expect(promises(fault(5, { outcome: { state: 'not spent' } }), before)).toEqual([]);
    expect(promises(fault(6, { outcome: { state: 'spent', entry: 3, resumable: true } }), unanswered)).toEqual([]);
    expect(promises(fault(7, { outcome: { state: 'recorded', entry: 3 } }), recorded)).toEqual([]);
    expect(promises(answer(3), recorded)).toEqual([]);
    expect(promises(answer(3, { recorded: false }), unanswered)).toEqual([]);
    expect(promises({ code: null, signal: 'SIGKILL', out: '', err: '' }, unanswered)).toEqual([]);
  });

  it('the oracle detects every false outcome', () => {
    expect(promises(fault(5, {}), unanswered)).toEqual(['silent']);
    expect(promises(fault(5, { outcome: { state: 'not spent' } }), recorded)).toEqual(['silent']);
    expect(promises(fault(6, { outcome: { state: 'spent', entry: 3, resumable: true } }), recorded)).toEqual(['silent']);
    expect(promises(fault(6, { outcome: { state: 'spent', entry: 3, resumable: true } }), before)).toEqual(['silent']);
    expect(promises(fault(7, { outcome: { state: 'recorded', entry: 3 } }), unanswered)).toEqual(['silent']);
    expect(promises(fault(5, { outcome: { state: 'recorded', entry: 3 } }), recorded)).toEqual(['silent']);
    expect(promises(fault(7, { outcome: { state: 'recorded', entry: 2 } }), unanswered)).toEqual(['silent']);
    expect(promises(fault(5, { code: 'READ_ONLY' }), before)).toEqual(['silent']);
    expect(promises(fault(1, { code: 'INTERNAL' }), before)).toEqual(['silent']);
    expect(promises({ code: 134, signal: null, out: '', err: '' }, before)).toEqual(['silent']);
    expect(promises({ code: 0, signal: null, out: '', err: '' }, before)).toEqual(['silent']);
    expect(promises(answer(3), before)).toEqual(['lost']);
    expect(promises(answer(3), unanswered)).toEqual(['lost']);
    expect(promises(answer(2, { replayed: true }), unanswered)).toEqual(['silent']);
  });

  it('the oracle detects lost, doubled and excessive entries', () => {
    expect(promises(fault(5, {}), state([]))).toEqual(['lost']);
    expect(promises(fault(5, {}), state([booked(2, false)]))).toEqual(['lost']);
    expect(promises(answer(3), { ...recorded, ledger: { ...recorded.ledger!, told: [2] } })).toEqual(['lost']);
    expect(promises(answer(3), { ...recorded, ledger: { ...recorded.ledger!, wrong: 'entry 3' } })).toEqual(['lost']);
    expect(promises(answer(5), state([2, 3, 4, 5].map((n) => booked(n, true))))).toEqual(['overspent', 'lost']);
    const first: First = { before, result: fault(5, {}), after: before, planted };
    const again = (result: CommandResult, after: State, how: Partial<First> = {}) =>
      judgeAgain({ ...first, ...how }, result, after).map((b) => b.promise);
    const twice = state([2, 3, 4].map((n) => booked(n, true)));
    expect(again(answer(4), twice)).toEqual(['twice']);
    expect(again(fault(3, {}), recorded)).toEqual(['twice']);
    expect(again(fault(5, {}), before)).toEqual(['lost']);
    const lasting = (resumable: boolean) => ({ result: fault(6, { outcome: { state: 'spent', entry: 3, resumable } }) });
    expect(again(answer(4), twice, lasting(true))).toEqual(['twice']);
    expect(again(answer(4), twice, lasting(false))).toEqual([]);
    expect(again(answer(5), state([2, 3, 5].map((n) => booked(n, true))), lasting(false))).toEqual([]);
  });

  it('the oracle lets a killed process pay again between the two copies of its answer, and nowhere else', () => {
    const lost = state([booked(2, true), { ...booked(3, false), textLost: true }]);
    const death = (where: string, how: PlantedFault['mode'], after: State): First => ({
      before,
      result: { code: null, signal: 'SIGKILL', out: '', err: '' },
      after,
      planted: { mode: how, call: { what: 'write', where }, sound: before },
    });
    const twice = state([2, 3, 4].map((n) => booked(n, true)));
    const again = (first: First) => judgeAgain(first, answer(4), twice).map((b) => b.promise);
    expect(again(death('ledger.db-wal', 'kill', lost))).toEqual([]);
    expect(again(death('ledger.db.chain', 'after', lost))).toEqual([]);
    expect(again(death('ledger.db.chain', 'kill', lost))).toEqual(['twice']);
    expect(again(death('ledger.db', 'after', lost))).toEqual(['twice']);
    expect(again(death('ledger.db-wal', 'kill', unanswered))).toEqual(['twice']);
  });
});

describe('the oracle of an amendment', () => {
  it('the oracle detects terms that changed in silence, and terms reported as changed that did not', () => {
    const changed = state([booked(2, true)], {}, 'new');
    expect(judgeAmend(before, resultWith(0, {}), changed, planted)).toEqual([]);
    expect(judgeAmend(before, fault(5, {}), changed, planted)).toHaveLength(1);
    expect(judgeAmend(before, resultWith(0, {}), before, planted)).toHaveLength(1);
  });

  it('the oracle accepts an unknown outcome while the disk goes on failing, and only then', () => {
    const changed = state([booked(2, true)], {}, 'new');
    const doubt = fault(5, { hint: 'The terms may have been changed all the same.' });
    const lasting: PlantedFault = { ...planted, mode: 'lasting', call: { what: 'fsync', where: 'ledger.db.chain' } };
    for (const after of [before, changed]) expect(judgeAmend(before, doubt, after, lasting)).toEqual([]);
    expect(judgeAmend(before, doubt, changed, planted)).toHaveLength(1);
  });
});

describe('the oracle of files', () => {
  const old = state([], { a: 'old', b: 'old' });
  const sound = state([], { a: 'new', b: 'new' });
  const judge = judgeFiles(['a', 'b']);
  const result = (words: CommandResult, files: Record<string, string>) =>
    judge(old, words, state([], files), { ...planted, sound }).map((b) => b.promise);
  const unchanged = fault(5, { hint: 'What was there before is unchanged.' });

  it('the oracle accepts all old or all new files, and nothing between', () => {
    expect(result(resultWith(0, {}), { a: 'new', b: 'new' })).toEqual([]);
    expect(result(unchanged, { a: 'old', b: 'old' })).toEqual([]);
    expect(result(resultWith(0, {}), { a: 'new', b: 'old' })).toEqual(['silent']);
    expect(result(unchanged, { a: 'new', b: 'old' })).toEqual(['silent', 'torn']);
    expect(result(unchanged, { a: '', b: 'old' })).toEqual(['torn', 'silent', 'torn']);
    expect(result(unchanged, { a: 'old', b: 'old', '.fugu-1-1.tmp': 'n' })).toEqual(['torn']);
    expect(result({ code: null, signal: 'SIGKILL', out: '', err: '' }, { a: 'ne', b: 'old' })).toEqual(['torn']);
  });
});

describe('the oracle of a ledger that is rebuilt', () => {
  const whole = state([booked(2, true), booked(3, true)]);
  const rebuilding: PlantedFault = { ...planted, sound: whole };
  const damaged: State = { files: new Map(), ledger: { entries: [], terms: undefined, told: [], wrong: 'LEDGER_CORRUPT' } };
  const result = (words: CommandResult, after: State) => judgeRebuilt(damaged, words, after, rebuilding).map((b) => b.promise);
  const killed: CommandResult = { code: null, signal: 'SIGKILL', out: '', err: '' };

  it('the oracle accepts the whole ledger, or the former one', () => {
    expect(result(resultWith(0, {}), whole)).toEqual([]);
    for (const words of [fault(5, {}), killed]) {
      expect(result(words, damaged)).toEqual([]);
      expect(result(words, whole)).toEqual([]);
    }
  });

  it('the oracle detects a rebuilt ledger that has lost an entry, and one that is missing', () => {
    expect(result(resultWith(0, {}), damaged)).toEqual(['silent']);
    for (const words of [resultWith(0, {}), fault(5, {}), killed])
      expect(result(words, state([booked(2, true)]))).toContain('lost');
    expect(result(fault(5, {}), { files: new Map() })).toEqual(['lost']);
    expect(result(resultWith(0, {}), state([booked(2, true), booked(3, false)]))).toEqual(['lost']);
    const again = (words: CommandResult, after: State) =>
      judgeRebuiltAgain({ before: damaged, result: words, after: damaged, planted: rebuilding }, resultWith(0, {}), after);
    expect(again(killed, state([booked(2, true), booked(3, false)]))).toEqual([]);
    expect(again(fault(5, {}), state([booked(2, true), booked(3, false)]))).toHaveLength(1);
    expect(again(killed, damaged)).toHaveLength(1);
    const refused = (code: string, after: State) =>
      judgeRebuiltAgain({ before: damaged, result: killed, after, planted: rebuilding }, fault(2, { code }), after);
    expect(refused('LEDGER_MISMATCH', whole)).toEqual([]);
    expect(refused('LEDGER_MISMATCH', state([booked(2, true)]))).not.toEqual([]);
    expect(refused('LEDGER_CORRUPT', whole)).toHaveLength(1);
  });
});
