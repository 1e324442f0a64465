import { afterEach, expect, it } from 'vitest';
import { now } from '../../../test/now.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { logUp } from '../../base/exact/outward.js';
import { compare, fromNumber, nextUp, parseRational } from '../../base/exact/rational.js';
import { unlimitedMemory } from '../../privacy/dependence/graph/memory-limit.js';
import { releaseContextOf } from '../../release/session/session.js';
import { readRecords } from './records.js';
import { relationTie, type TiesDependence } from './relation.js';

let shop: Workshop;
afterEach(() => shop.remove());

it('the odds ratio of a tie is never read as less than its text, though no double equals it', async () => {
  // The last are nearest to whole numbers, which are below them.
  const written = ['1.1', '1.3', '1.7', '2.9', '3.3', '1.0000000000000001', '3.0000000000000002', '9007199254740993', '1'];
  // Some of these lie above the double nearest to them.
  expect(new Set(written.slice(0, 5).map((text) => compare(parseRational(text), fromNumber(Number(text))))).size).toBe(2);
  const dependence = '[{ kind: ties, relation: friend, oddsColumn: how }]';
  const extra = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100 }\n';
  shop = openWorkshop(policyYaml({ dependence, extra }), 12);
  shop.write('friends.csv', `a,b,how\n${written.map((odds, k) => `p${k},p${k + 1},${odds}`).join('\n')}\n`);
  const session = await shop.session();
  const { policy } = session;
  const engine = await now(releaseContextOf(session).engine.whole);
  const records = await readRecords(policy, engine, { names: [] });
  const graph = await relationTie.records!.graph(policy.dependence[0] as TiesDependence, {
    policy,
    records,
    engine,
    room: unlimitedMemory,
  });
  written.forEach((text, k) => {
    const [a, b] = [`p${k}`, `p${k + 1}`].map((name) => records.named(name)!);
    const at = Array.from({ length: graph.factors }, (_, f) => graph.start[f]!).find((p) => {
      const ends = [graph.member[p], graph.member[p + 1]];
      return ends.includes(a) && ends.includes(b);
    })!;
    // The least double that is not below what was written.
    let above = Number(text);
    while (compare(fromNumber(above), parseRational(text)) < 0) above = nextUp(above);
    if (text === '1') expect(graph.logOdds[at] ?? 0).toBe(0);
    else expect([text, graph.logOdds[at]! >= logUp(above)]).toEqual([text, true]);
  });
  await session.close();
});
