import { describe, expect, it } from 'vitest';
import type { Said } from '../fugu.js';
import { type Booked, judgeAgain, judgeAmend, judgeFiles, judgeRelease, type Planted, type State } from './oracle.js';

const booked = (sequence: number, settled: boolean, key = `k${sequence}`): Booked => ({ sequence, settled, key, epsilon: 1 });
const state = (entries: readonly Booked[], files: Record<string, string> = {}, terms = 'old'): State => ({
  files: new Map(Object.entries(files)),
  ledger: { entries, terms, told: entries.filter((e) => e.settled).map((e) => e.sequence) },
});
const said = (code: number, document: object): Said => ({ code, signal: null, out: JSON.stringify(document), err: '' });
const fault = (exit: number, error: object): Said => said(exit, { error: { code: 'DISK_FAILED', hint: '', ...error } });
const answer = (entry: number, more: object = {}): Said => said(0, { tables: [], receipt: { ledger: { entry, ...more } } });
const before = state([booked(2, true)]);
const planted: Planted = { how: 'fail', errno: 'EIO', call: { what: 'fsync', where: 'ledger.db' }, sound: before };
const promises = (heard: Said, after: State) => judgeRelease(before, heard, after, planted).map((b) => b.promise);

describe('the oracle of a release', () => {
  const unanswered = state([booked(2, true), booked(3, false)]);
  const recorded = state([booked(2, true), booked(3, true)]);

  it('accepts the three outcomes where they are so', () => {
    expect(promises(fault(5, {}), before)).toEqual([]);
    expect(promises(fault(5, { outcome: { state: 'not spent' } }), before)).toEqual([]);
    expect(promises(fault(6, { outcome: { state: 'spent', entry: 3, resumable: true } }), unanswered)).toEqual([]);
    expect(promises(fault(7, { outcome: { state: 'recorded', entry: 3 } }), recorded)).toEqual([]);
    expect(promises(answer(3), recorded)).toEqual([]);
    expect(promises(answer(3, { recorded: false }), unanswered)).toEqual([]);
    expect(promises({ code: null, signal: 'SIGKILL', out: '', err: '' }, unanswered)).toEqual([]);
  });

  it('hears every one that is not', () => {
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

  it('sees what is gone, doubled or too much', () => {
    expect(promises(fault(5, {}), state([]))).toEqual(['lost']);
    expect(promises(fault(5, {}), state([booked(2, false)]))).toEqual(['lost']);
    expect(promises(answer(3), { ...recorded, ledger: { ...recorded.ledger!, told: [2] } })).toEqual(['lost']);
    expect(promises(answer(3), { ...recorded, ledger: { ...recorded.ledger!, wrong: 'entry 3' } })).toEqual(['lost']);
    expect(promises(answer(5), state([2, 3, 4, 5].map((n) => booked(n, true))))).toEqual(['overspent', 'lost']);
    expect(judgeAgain(before, answer(4), state([2, 3, 4].map((n) => booked(n, true)))).map((b) => b.promise)).toEqual(['twice']);
    expect(judgeAgain(before, fault(5, {}), before).map((b) => b.promise)).toEqual(['lost']);
  });
});

describe('the oracle of an amendment', () => {
  it('hears the terms changed in silence, and not changed in words', () => {
    const changed = state([booked(2, true)], {}, 'new');
    expect(judgeAmend(before, said(0, {}), changed, planted)).toEqual([]);
    expect(judgeAmend(before, fault(5, {}), changed, planted)).toHaveLength(1);
    expect(judgeAmend(before, said(0, {}), before, planted)).toHaveLength(1);
  });
});

describe('the oracle of files', () => {
  const old = state([], { a: 'old', b: 'old' });
  const sound = state([], { a: 'new', b: 'new' });
  const judge = judgeFiles(['a', 'b']);
  const heard = (words: Said, files: Record<string, string>) =>
    judge(old, words, state([], files), { ...planted, sound }).map((b) => b.promise);
  const unchanged = fault(5, { hint: 'What was there before is unchanged.' });

  it('accepts all old or all new, and nothing between', () => {
    expect(heard(said(0, {}), { a: 'new', b: 'new' })).toEqual([]);
    expect(heard(unchanged, { a: 'old', b: 'old' })).toEqual([]);
    expect(heard(said(0, {}), { a: 'new', b: 'old' })).toEqual(['silent']);
    expect(heard(unchanged, { a: 'new', b: 'old' })).toEqual(['silent', 'torn']);
    expect(heard(unchanged, { a: '', b: 'old' })).toEqual(['torn', 'silent', 'torn']);
    expect(heard(unchanged, { a: 'old', b: 'old', '.fugu-1-1.tmp': 'n' })).toEqual(['torn']);
    expect(heard({ code: null, signal: 'SIGKILL', out: '', err: '' }, { a: 'ne', b: 'old' })).toEqual(['torn']);
  });
});
