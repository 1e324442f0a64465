/**
 * Faults that would break a promise: in what a record can move, how wide the noise is, what it costs, who is admitted and by which bound. `from` occurs once in
 * `file`; one of `tests` must fail once it reads `to`.
 */
const mechanism = 'src/mechanism/mechanism.test.ts';
const drawn = 'src/mechanism/drawn.test.ts';
const every = 'test/every-mechanism.test.ts';
const effects = 'src/count/effects.test.ts';
const account = 'src/accounting/account.test.ts';
const kmeans = 'src/learn/kmeans/audit.test.ts';
const degrees = 'src/pattern/degrees/degrees.test.ts';
const ladders = 'src/pattern/query/ladders.test.ts';
const smallGraphs = 'src/pattern/every-small-graph.test.ts';
const quota = 'src/release/quota.test.ts';
const used = 'src/ties/used-records.test.ts';
const kinds = 'test/ties-kinds.test.ts';
const tilt = 'src/learn/classify/tilt.test.ts';
const line = 'src/dependence/informed/line.test.ts';

const mutant = (name, file, from, to, ...tests) => ({ name, file, from, to, tests });

/** Found alive in version 0.1, as they would be written now. */
const found = [
  mutant('presence-half', 'src/count/effects.ts', 'l1: touched * most.l1,', 'l1: (touched * most.l1) / 2n,', effects, every),
  mutant(
    'presence-carries-over',
    'src/accounting/open-account.ts',
    'addsRemoves(policy) ? `presence of ${given}` : given',
    'given',
    'test/add-remove.test.ts',
  ),
  mutant('kmeans-counts-each', 'src/learn/effects.ts', 'l2squared: 2n * m * m', 'l2squared: 2n * m', kmeans),
  mutant('kmeans-counts-two', 'src/learn/effects.ts', 'l1: 2n * m,', 'l1: 2n,', kmeans),
  mutant(
    'kmeans-grid-one-row',
    'src/learn/kmeans/tree-variant.ts',
    'effects: rowsMoved(each) }',
    'effects: rowsMoved(1) }',
    kmeans,
  ),
  mutant(
    'degrees-half',
    'src/pattern/degrees/distribution.ts',
    'cumulative: { l1: 2n, l2squared: 4n }',
    'cumulative: { l1: 1n, l2squared: 1n }',
    degrees,
  ),
  mutant(
    'degrees-person-as-tie',
    'src/pattern/degrees/release.ts',
    'person ? personEffect(degree) : tieEffect(relation.symmetric)',
    'tieEffect(relation.symmetric)',
    degrees,
    every,
  ),
  mutant(
    'spread-half',
    'src/learn/network/private-spread.ts',
    'spreadUnits * spreadSensitivity(',
    '0.5 * spreadUnits * spreadSensitivity(',
    'src/learn/network/private-spread.test.ts',
  ),
  mutant('selection-reach', 'src/learn/classify/select.ts', '2n * reach + 1n', 'reach', 'src/learn/classify/select.test.ts'),
  mutant('smooth-beta', 'src/mechanism/smooth.ts', 'divide(epsilon, rational(6))', 'divide(epsilon, rational(3))', mechanism),
  mutant(
    'tied-people-by-columns',
    'src/ties/declared.ts',
    'if (between.some(({ kind }) => kind.records)) return { ...records, readsData: true };',
    '',
    kinds,
  ),
  mutant(
    'belief-one-sided',
    'src/accounting/belief-delta.ts',
    'addUp(1, expUp(-toNumberDown(epsilon)))',
    '1',
    'src/accounting/belief-delta.test.ts',
  ),
  mutant(
    'settled-though-changed',
    'src/release/present-account.ts',
    'if (boundsOf(account) !== boundsOf(desk.account)) throw tiesChanged();',
    '',
    'test/two-sessions.test.ts',
  ),
];

const synthetic = [
  mutant('synth-reach-half', 'src/synth/distance.ts', '(change === \'replaced\' ? 2n : 1n) * BigInt(each)', 'BigInt(each)', 'src/synth/distance.test.ts', every),
  mutant('synth-counts-one-row', 'src/synth/method.ts', 'return rowsMoved(each);', 'return rowsMoved(1);', every),
  mutant(
    'synth-choices-once',
    'src/synth/tree.ts',
    'choicesMoved(setting, edges)',
    'choicesMoved(setting)',
    every,
  ),
  mutant(
    'synth-removed-half',
    'src/synth/method.ts',
    'l2squared: m * m });',
    'l2squared: m });',
    'src/synth/distance.test.ts',
  ),
  mutant(
    'pairs-of-three',
    'src/synth/households/pairs.ts',
    'i + 1 < to; i += 2)',
    'i + 1 < to; i += 1)',
    'src/synth/households/households.test.ts',
  ),
  mutant(
    'pairs-paid-half',
    'src/synth/households/measure-pairs.ts',
    "change: 'replaced', each: 1,",
    "change: 'removed', each: 1,",
    'src/synth/households/households.test.ts',
  ),
  mutant(
    'homes-by-what-is-said',
    'src/learn/several-groups.ts',
    'HAVING count(DISTINCT own) > 1 OR',
    'HAVING',
    'src/synth/households/households.test.ts',
  ),
  mutant(
    'homes-or-none',
    'src/learn/several-groups.ts',
    ' OR count(own) BETWEEN 1 AND count(*) - 1`',
    '`',
    'src/synth/households/households.test.ts',
  ),
  mutant(
    'synth-rows-without-end',
    'src/synth/method.ts',
    'Math.min(mostRows, Math.max(1, sum / precision))',
    'Math.max(1, sum / precision)',
    'src/synth/distance.test.ts',
  ),
  mutant(
    'ground-without-pairs',
    'src/release/ground.ts',
    'protect.pairs !== undefined, data.links ?? null, ',
    '',
    'test/estimate.test.ts',
  ),
  mutant(
    'synth-choice-unpaid',
    'src/synth/rounds.ts',
    'open[choose.choose(paid, penalties)]!',
    'open[penalties.indexOf(penalties.reduce((a, b) => (b < a ? b : a)))]!',
    'src/synth/audit.test.ts',
  ),
  mutant(
    'synth-model-too-large',
    'src/synth/small-enough.ts',
    'impossible) <= mostCells) return measured;',
    'impossible) < Number.POSITIVE_INFINITY) return measured;',
    'src/synth/after-paying.test.ts',
  ),
  mutant(
    'exchange-first-alone',
    'src/mechanism/paid.ts',
    'costsNoMore(costTogether(instead), booked.cost)',
    'costsNoMore(instead[0]!.cost, booked.cost)',
    mechanism,
  ),
];

const cost = [
  mutant(
    'cost-laplace-half',
    'src/mechanism/cost.ts',
    "if (law.kind === 'laplace') return divide(rational(l1), law.scale)",
    "if (law.kind === 'laplace') return divide(rational(l1), multiply(two, law.scale))",
    mechanism,
  ),
  mutant(
    'cost-gaussian-half',
    'src/mechanism/cost.ts',
    'multiply(two, law.variance)',
    'multiply(rational(4), law.variance)',
    mechanism,
  ),
  mutant(
    'cost-selection-zcdp',
    'src/mechanism/cost.ts',
    'rational(l2squared)), two)',
    'rational(l2squared)), rational(8))',
    mechanism,
  ),
  mutant(
    'cost-ladder-half',
    'src/mechanism/cost.ts',
    'multiply(multiply(two, law.decay), rational(l1))',
    'multiply(law.decay, rational(l1))',
    mechanism,
  ),
  mutant('cost-smooth-stretch', 'src/mechanism/cost.ts', '3n * beta.num', 'beta.num', mechanism),
  mutant(
    'cost-by-l1-in-zcdp',
    'src/mechanism/cost.ts',
    "zcdp: 'l2squared' }",
    "zcdp: 'l1' }",
    mechanism,
    'test/booked-cost.test.ts',
  ),
  mutant(
    'booked-times-ignored',
    'src/mechanism/cost.ts',
    'compare(multiply(real, rational(times)), cost)',
    'compare(real, cost)',
    mechanism,
  ),
  mutant(
    'booked-silent-law-free',
    'src/mechanism/cost.ts',
    'real === undefined || compare(',
    'real !== undefined && compare(',
    mechanism,
  ),
  mutant(
    'largest-first-class',
    'src/mechanism/effect.ts',
    'if (scope(name) && effect[size] > most)',
    'if (scope(name) && most === 0n)',
    mechanism,
    'test/booked-cost.test.ts',
  ),
  mutant('paid-not-counted', 'src/mechanism/paid.ts', 'this.#left.set(mechanism, left - draws);', '', mechanism),
  mutant(
    'exchange-not-compared',
    'src/mechanism/paid.ts',
    'if (!costsNoMore(costTogether(instead), booked.cost))',
    'if (instead.includes(booked))',
    mechanism,
  ),
  mutant('exchange-keeps-both', 'src/mechanism/paid.ts', 'this.take(booked, booked.draws);', '', mechanism),
  mutant(
    'cost-of-several-forgotten',
    'src/mechanism/mechanism.ts',
    'return addProfiles(total, cost);',
    'return total.perRecord.size > 0 ? total : cost;',
    mechanism,
  ),
  mutant('factored-if-one-is', 'src/mechanism/profile.ts', 'a.factored && b.factored', '(a.factored || b.factored)', account),
];

const scale = [
  mutant(
    'laplace-drawn-half',
    'src/mechanism/additive.ts',
    'laplaceSampler(law.scale)',
    'laplaceSampler(divide(law.scale, two))',
    drawn,
  ),
  mutant(
    'gaussian-drawn-half',
    'src/mechanism/additive.ts',
    'gaussianSampler(law.variance)',
    'gaussianSampler(divide(law.variance, two))',
    drawn,
  ),
  mutant(
    'selection-drawn-sharper',
    'src/mechanism/select.ts',
    'scores: penalties.map((p) => -p) }',
    'scores: penalties.map((p) => -2n * p) }',
    drawn,
  ),
  mutant(
    'ladder-drawn-sharper',
    'src/mechanism/ladder.ts',
    'ladderSampler(rungs, decay)',
    'ladderSampler(rungs, { num: 2n * decay.num, den: decay.den })',
    drawn,
  ),
  mutant('smooth-drawn-steeper', 'src/mechanism/smooth.ts', 'slowExp({ num: -beta.num,', 'slowExp({ num: -2n * beta.num,', drawn),
  mutant(
    'smooth-drawn-narrower',
    'src/mechanism/smooth.ts',
    'return { low: { num: low * scale.num, den: unit * scale.den }, high: { num: high * scale.num, den: unit * scale.den } };',
    'return { low: { num: low * scale.num, den: 2n * unit * scale.den }, high: { num: high * scale.num, den: 2n * unit * scale.den } };',
    drawn,
  ),
];

const sensitivity = [
  mutant('options-as-one-cell', 'src/count/effects.ts', '? k * BigInt(Math.max(1, key.codes.length)) : k)', '? k : k)', effects),
  mutant(
    'secret-keys-stay',
    'src/count/effects.ts',
    'every((name) => slicings.some(({ column }) => column.name === name))',
    'every(() => slicings.length > 0)',
    effects,
  ),
  mutant('totals-a-step-short', 'src/count/running-count.ts', 'to: horizon * width - 1,', 'to: horizon * width - 2,', effects),
  mutant('max-rows-not-squared', 'src/count/effects.ts', 'm * m * row.l2squared', 'm * row.l2squared', effects),
  mutant(
    'rows-leave-only',
    'src/count/effects.ts',
    'const apart = 2n * (touched - shared);',
    'const apart = touched - shared;',
    effects,
  ),
  mutant('rank-one-side', 'src/count/effects.ts', 'most: ofOne(larger(num, den - num))', 'most: ofOne(num)', effects),
  mutant(
    'weight-forgotten',
    'src/count/effects.ts',
    'sizeOf(number).range * sizeOf(weight).most',
    'sizeOf(number).range',
    effects,
  ),
  mutant('offsets-one-way', 'src/learn/effects.ts', 'l1: 2n * m * l1', 'l1: m * l1', kmeans),
  mutant('offsets-each', 'src/learn/effects.ts', '4n * m * m * l2 * l2', '4n * m * l2 * l2', kmeans),
  mutant(
    'offsets-not-drawn-back',
    'src/learn/kmeans/offsets.ts',
    'if (length(whole) <= fine)',
    'for (let c = 0; c < d; c++) whole[c] = Math.trunc((x[c]! * fine) / radii[best]!);\n    if (length(whole) < 2 ** 52)',
    'src/learn/kmeans/offsets.test.ts',
  ),
  mutant(
    'halving-one-row',
    'src/learn/kmeans/halving-variant.ts',
    'cells, effects: rowsMoved(each) }',
    'cells, effects: rowsMoved(1) }',
    kmeans,
  ),
  mutant('tilt-effect', 'src/learn/classify/tilt.ts', 'Math.ceil(loss.steepest * fineness * unit) + 1', 'unit', tilt),
  mutant('tilt-bend', 'src/learn/classify/tilt.ts', 'multiply(rational(each), fastest)', 'multiply(rational(1, 9), fastest)', tilt),
  mutant('tilt-rounding', 'src/learn/classify/tilt.ts', 'add(fromNumber(tolerance), rounding)', 'fromNumber(tolerance / 1e6)', tilt),
  mutant('tilt-cost', 'src/mechanism/cost.ts', 'divide(rational(l1), law.scale), law.bend)', 'divide(rational(l1), law.scale), rational(0))', tilt),
  mutant('sums-each', 'src/learn/effects.ts', '4n * m * m * k', '4n * m * k', kmeans),
  mutant(
    'output-reach-half',
    'src/learn/classify/output.ts',
    'rational(2 * each, records)',
    'rational(each, records)',
    'src/learn/classify/training.test.ts',
  ),
  mutant(
    'score-reach',
    'src/learn/network/score-grid.ts',
    'reach: (6n * n) / unit + 1n',
    'reach: (2n * n) / unit + 1n',
    'src/learn/classify/select.test.ts',
    'src/learn/network/private-tree.test.ts',
  ),
  mutant(
    'person-one-row',
    'src/learn/public-size.ts',
    "policy.protect.secret === 'person' ? policy.protect.maxRows : 1",
    '1',
    every,
  ),
  mutant(
    'person-as-tuple',
    'src/pattern/hidden.ts',
    'moves: perPerson(a, domainSize(a.pattern) - 1)',
    'moves: a.bounds.globalSensitivity',
    'src/pattern/per-person.test.ts',
    'src/pattern/ways/ways.test.ts',
    every,
  ),
  mutant('race-cut-later', 'src/pattern/ways/race.ts', 'smaller(c, tau)', 'smaller(c, 2n * tau)', every),
  mutant(
    'symmetric-one-way',
    'src/pattern/query/sensitivity.ts',
    'symmetric ? 2n * total : total',
    'symmetric ? total : total',
    smallGraphs,
    'src/pattern/query/analyse.test.ts',
  ),
  mutant(
    'residual-one-way',
    'src/pattern/query/ladders.ts',
    'return (d * total) / divisor;',
    'return total / divisor;',
    smallGraphs,
  ),
  mutant('triangle-empty-pairs', 'src/pattern/query/ladders.ts', 'let most = t;', 'let most = 0;', ladders, smallGraphs),
  mutant('star-one-end', 'src/pattern/query/ladders.ts', 'Math.min(t - u, roof - low)', '0', ladders),
  mutant(
    'truncation-still',
    'src/pattern/query/ladders.ts',
    'BigInt(1 + t + near(t))',
    'BigInt(1 + near(t))',
    smallGraphs,
    'src/pattern/per-person.test.ts',
  ),
  mutant(
    'truncation-just-above',
    'src/pattern/truncated.ts',
    'd <= degree + 1 + t',
    'd <= degree + t',
    smallGraphs,
    'src/pattern/per-person.test.ts',
  ),
  mutant(
    'projection-one-end',
    'src/pattern/degrees/projection.ts',
    'degree[a]! < theta && degree[b]! < theta',
    'degree[a]! < theta',
    degrees,
  ),
];

const admission = [
  mutant(
    'shares-above-one',
    'src/accounting/allocate.ts',
    'weights[k]! / total)',
    'weights[k]! / Math.max(...weights))',
    account,
  ),
  mutant(
    'pairs-passed-over',
    'src/pattern/graph/common-pairs.ts',
    'search.known(d - k) - d',
    'search.known(1) - d',
    'src/pattern/graph/common-pairs.test.ts',
  ),
  mutant(
    'places-of-another-grid',
    'src/count/read-column.ts',
    'places?.grid === gridText(grid) ? places.column',
    'places !== undefined ? places.column',
    'src/count/count.test.ts',
  ),
  mutant(
    'spent-of-last-class',
    'src/accounting/account.ts',
    'if (scope(name)) most = maximum(most, cost);',
    'if (scope(name)) most = cost;',
    account,
  ),
  mutant(
    'conditions-always-met',
    'src/accounting/account.ts',
    'perRecord.get(everyRecord) ?? zero) === 0;',
    'perRecord.get(everyRecord) ?? zero) <= 0;',
    account,
  ),
  mutant(
    'pure-beside-gaussian',
    'src/accounting/account.ts',
    'if (spent.zcdp.perRecord.size === 0 && (compare(total.pure',
    'if ((compare(total.pure',
    account,
  ),
  mutant('delta-not-shared', 'src/accounting/open-account.ts', 'const parts = firsts + worth.size;', 'const parts = 1;', account),
  mutant(
    'answers-not-booked',
    'src/accounting/account.ts',
    'const more = profile.perRecord.size === 1 ? columns : [];',
    'const more = [];',
    account,
  ),
  mutant(
    'once-and-again',
    'src/accounting/account.ts',
    'if (paidTwice(after))',
    'if (paidTwice(before))',
    'src/pattern/release.test.ts',
  ),
  mutant('quota-unheeded', 'src/accounting/account.ts', 'if (compare(own, epsilon) <= 0) return;', 'return;', quota),
  mutant(
    'total-rounded-down',
    'src/ledger/index/total.ts',
    'ceiling(multiply(x, rational(finest)))',
    'ceiling(multiply(x, rational(finest))) - 1n',
    'src/ledger/chained-ledger.test.ts',
  ),
  mutant(
    'admitted-by-before',
    'src/ledger/chained-ledger.ts',
    'admit(book(before, paid), before,',
    'admit(before, before,',
    'src/ledger/chained-ledger.test.ts',
  ),
  mutant(
    'own-share-by-before',
    'src/ledger/chained-ledger.ts',
    'book(spentFromText(on.books.share(population, analyst)), paid)',
    'spentFromText(on.books.share(population, analyst))',
    quota,
    'src/ledger/chained-ledger.test.ts',
  ),
  mutant(
    'quota-not-left',
    'src/accounting/share.ts',
    'return minimum(left, subtract(divide(quota, account.epsilon), usedShare(account, spent, about)));',
    'return left;',
    quota,
  ),
  mutant(
    'charge-marks-forgotten',
    'src/release/charge.ts',
    'account.book(cost, request.reading)',
    'cost',
    'test/max-ties.test.ts',
    'test/given-away.test.ts',
  ),
  mutant(
    'charge-public-columns-forgotten',
    'src/release/charge.ts',
    'request.relied ?? reliedByRow(policy, cost)',
    'request.relied ?? []',
    'test/given-away.test.ts',
  ),
  mutant(
    'enter-columns-forgotten',
    'src/release/enter.ts',
    'relied: reliedByOthers(policy),',
    'relied: [],',
    'test/publishers.test.ts',
  ),
  mutant(
    'published-sum-of-rows',
    'src/count/margin-cells.ts',
    "if (value.kind === 'one') return rows;",
    'if (cuts.length > 0) return rows;',
    'src/count/known-effects.test.ts',
  ),
  mutant(
    'survey-tables-once',
    'src/survey/error.ts',
    '[{ law: scaled(law, unit), cells, tables }]',
    '[{ law: scaled(law, unit), cells }]',
    'test/merged-survey.test.ts',
  ),
  mutant(
    'options-twice',
    'src/count/effects.ts',
    'keys.length === 1 ? keys.find',
    'keys.length > 0 ? keys.find',
    'src/count/effects.test.ts',
  ),
  mutant('view-letters', 'src/view/declared.ts', 'name.toLowerCase()', 'name', 'src/view/declared.test.ts'),
];

const routing = [
  mutant('factored-by-two', 'src/accounting/choose.ts', 'filter(isPart).length <= 1', 'filter(isPart).length <= 2', account),
  mutant(
    'relations-as-rows',
    'src/accounting/reading.ts',
    'beyond !== true',
    'true',
    'src/accounting/reading.test.ts',
    'test/max-ties.test.ts',
  ),
  mutant(
    'levels-unless-told',
    'src/accounting/reading.ts',
    'readsWithin(counting, resolution)) === true',
    'readsWithin(counting, resolution)) !== false',
    'src/accounting/reading.test.ts',
  ),
  mutant('sums-of-two-answers', 'src/accounting/reading.ts', 'answersMoving(m) <= 1', 'answersMoving(m) <= 2', account),
  mutant(
    'base-of-last-class',
    'src/dependence/base.ts',
    'most = maximum(most, cost)',
    'most = cost',
    'src/dependence/base.test.ts',
  ),
  mutant('push-less', 'src/dependence/graph/push.ts', '2 * log1pUp(', '1.99 * log1pUp(', 'src/dependence/graph/push.test.ts'),
  mutant('used-spend-half', 'src/dependence/leakage.ts', '.fill(profile)', '.fill(used ? profile / 2 : profile)', used),
  mutant(
    'tangents-too-low',
    'src/dependence/graph/tangents.ts',
    '+ slack * slope;',
    '- 2 ** -30 * slope;',
    'src/dependence/graph/tangents.test.ts',
  ),
  mutant(
    'raise-not-tried',
    'src/dependence/informed/messages.ts',
    'raised(by).every((x, p) => x <= certain[p]!)',
    'raised(by).length > 0',
    'src/dependence/informed/large.test.ts',
  ),
  mutant(
    'kept-without-strengths',
    'src/dependence/kept-bounds.ts',
    'take(hash, alike ? Float64Array.of(commonOdds) : graph.logOdds);',
    '',
    'src/dependence/kept-bounds.test.ts',
  ),
  mutant(
    'shapes-without-used',
    'src/dependence/graph/distinct.ts',
    '(used?.[u] ?? 1)',
    '1',
    'src/dependence/graph/distinct.test.ts',
  ),
  mutant(
    'direct-strongest-only',
    'src/dependence/uninformed/direct.ts',
    'effect = (effect + profile[w]!) * roundedUp',
    'effect = Math.max(effect, profile[w]!)',
    'src/dependence/uninformed/direct.test.ts',
  ),
  mutant(
    'gaussian-sums-alone',
    'src/dependence/gaussian/sums.ts',
    'addUp(mulUp(x, x), mulUp(x, shiftOf(reach)))',
    'mulUp(x, x)',
    'src/dependence/gaussian/sums.test.ts',
  ),
  mutant(
    'pure-as-quarter-rho',
    'src/dependence/graph-amplifier.ts',
    'divide(multiply(pure, pure), rational(2))',
    'divide(multiply(pure, pure), rational(4))',
    'src/dependence/graph-amplifier.test.ts',
  ),
  mutant('one-member-too-many', 'src/ties/used-records.ts', '(members.get(group[record]!) ?? 0) < most', '(members.get(group[record]!) ?? 0) <= most', 'test/max-used.test.ts'),
  mutant('one-tie-too-many', 'src/ties/used-records.ts', 'taken[k]![w]! < (admitted', 'taken[k]![w]! <= (admitted', used),
  mutant('groups-of-one-home', 'src/ties/groups.ts', '? mulUp(each, odds) : odds', '? odds : odds', 'src/ties/groups.test.ts'),
  mutant(
    'used-without-mark',
    'src/ties/record-ties.ts',
    "conditions: [{ mark: markOf(unused), need: { kind: 'rows' } }],",
    'conditions: [],',
    'test/max-ties.test.ts',
  ),
  mutant('direct-for-some', 'src/ties/record-ties.ts', 'direct.length !== list.length', 'direct.length > list.length', kinds),
  mutant(
    'strength-rounded-to-nearest',
    'src/ties/relation.ts',
    'Number.isInteger(ratio) ? ratio : nextUp(ratio)',
    'ratio',
    'src/ties/relation.test.ts',
  ),
];

/** What a steward must have said, and what whoever pays must have seen. */
const spending = 'test/spending.test.ts';
const drafts = 'src/policy/draft/draft.test.ts';
const decided = [
  mutant('undecided-is-none', 'src/release/ready.ts', 'if (undecided)', 'if (undecided && false)', 'test/undecided.test.ts'),
  mutant('undecided-same-terms', 'src/terms/digest.ts', "undecided ? 'undecided' : ties", 'ties', 'test/undecided.test.ts'),
  mutant('drafts-none', 'src/policy/draft/policy-text.ts', "'dependence: undecided',", "'dependence: none',", drafts),
  mutant(
    'free-text-listed',
    'src/policy/draft/guess.ts',
    'distinct <= Math.max(12, filled / 5) && !isFreeText(column.texts!)',
    'distinct <= Math.max(12, filled / 5)',
    drafts,
  ),
  mutant(
    'room-not-admitted',
    'src/accounting/room-to-spend.ts',
    '...(fits ? admitted : possible)',
    '...possible',
    spending,
  ),
  mutant('spends-unasked', 'src/release/charge.ts', 'await desk.decide?.(request.plan);', ';', spending),
  mutant('certifies-anything', 'src/accounting/guarantee.ts', 'certified: nothing === undefined,', 'certified: true,', spending),
];

/** One for each row of test/found.test.ts: what a new user met must be met again without its guard. */
const firstMile = 'test/found.test.ts';
const rowsOfFound = [
  mutant('found-free-text', 'src/policy/draft/guess.ts', '(distinct <= Math.max(12, filled / 5) && !isFreeText(column.texts!))', '(distinct <= Math.max(12, filled / 5))', firstMile),
  mutant('found-own-words', 'src/policy/draft/guess.ts', '.filter((code) => !own.includes(code))', '', firstMile),
  mutant('found-confirm-all', 'src/ask/confirm.ts', "'values' in column && readsLikeFreeText(column.values)", 'false', firstMile),
  mutant('found-group-key', 'src/policy/draft/draft.ts', '.flatMap((column) => foundGroups(column) ?? [])', '.flatMap((column) => (column.rows < 0 ? foundGroups(column)! : []))', firstMile),
  mutant('found-none-in-silence', 'src/policy/draft/policy-text.ts', "'dependence: undecided',", "'dependence: none',", firstMile),
  mutant('found-timings', 'src/policy/draft/guess.ts', "return out('timing', 'a timing');", '{}', firstMile),
  mutant('found-last-crumb', 'src/release/plan.ts', 'if (!isPositive(left) || compare(share, left) !== 0) return undefined;', 'if (left !== undefined) return undefined;', firstMile),
  mutant('found-mostly-noise', 'src/release/plan.ts', 'return by > 1 / 10 ?', 'return by > 1e9 ?', firstMile),
  mutant('found-second-release', 'src/cli/write-release.ts', 'if (overwrite || !released) return;', 'return;', firstMile),
  mutant('found-attack-page', 'src/cli/attack.ts', "out ?? join(dirname(policy), 'private', name)", "out ?? join(dirname(policy), 'out', name)", firstMile),
  mutant('found-mistyped', 'src/count/hidden-cells.ts', 'if (unknown.length > 0) this.#undeclared.add(new Set(unknown));', '', 'test/private-check.test.ts'),
  mutant('found-mistyped-unsaid', 'src/cli/check.ts', 'const hidden = columns.filter((c) => c.hidden > 0);', 'const hidden = columns.filter(() => false);', firstMile),
  mutant('found-labels', 'src/report/key-labels.ts', 'column.labels.get(one) ?? one', 'one', firstMile),
  mutant('found-percent', 'src/report/published-table.ts', "const shares = table.rows.some(({ share }) => share);", 'const shares = false;', firstMile),
  mutant('found-paths', 'src/release/receipt.ts', 'population: publicName(policy)', 'population: policy.population', 'test/publish.test.ts'),
  mutant('found-sav-labels', 'src/policy/codebook/statfile.ts', "labels: new Map([...told].filter(([, words]) => words !== '')),", 'labels: new Map(),', firstMile),
  mutant('found-sav-missing', 'src/policy/codebook/statfile.ts', 'missing: [...none],', 'missing: [],', firstMile),
  mutant('found-sav-cells', 'src/statfile/sav/cases.ts', 'told === nothing ? missing : ready[told]!', 'told === nothing ? missing : ready[0]!', 'test/statfile/statfile.test.ts'),
  mutant('found-weights', 'src/policy/draft/guess.ts', "return { type: 'weight', bounds: rounded(column.range!, false), missing: [] };", 'return guessNumber(column, known);', firstMile),
  mutant('found-few-pairs', 'src/learn/odds/odds-evidence.ts', 'if (!shared || high <= worthwhile * shared.high)', 'if (!shared || high > 0)', firstMile),
  mutant('found-members-stay', 'src/release/session.ts', 'engine: unused ? await whole.without(unused.column, unused.names) : whole,', 'engine: whole,', firstMile),
  mutant('found-one-member-more', 'src/ties/used-records.ts', '(members.get(group[record]!) ?? 0) < most', '(members.get(group[record]!) ?? 0) <= most', firstMile),
  mutant('found-plan-says-yes', 'src/accounting/room-to-spend.ts', '...(fits ? admitted : possible)', '...possible', firstMile),
  mutant('found-same-terms', 'src/ledger/chained-ledger.ts', 'const changed = changedTerms(known, asked);', 'const changed = known === asked ? changedTerms(known, asked) : undefined;', firstMile),
  mutant('found-protects-nothing', 'src/ask/fugu.ts', 'if (why === undefined) return;', 'return;', firstMile),
  mutant('found-saw-tooth', 'src/policy/bins.ts', "return type === 'integer' ? add(steps, rational(1)) : steps;", 'return steps;', 'src/policy/bins.test.ts', firstMile),
  mutant('found-typed', 'src/cli/typed.ts', "command === 'fugu' ? sentence : sentence.replace(said, `${command} `)", 'sentence', 'src/cli/typed.test.ts'),
  mutant('found-shared-ledger', 'src/ledger/ledger-file.ts', 'if (isShared(dirname(path))) fchmodSync(fd, sharedMode);', '', firstMile),
];

/** What a draft would give away in silence. */
const personal = 'src/policy/draft/personal.test.ts';
const panels = 'src/policy/draft/panel.test.ts';
const content = 'src/policy/draft/content.test.ts';
const silent = [
  mutant('few-rows-listed', 'src/policy/draft/free-text.ts', 'times < fewRows(all) && !isShortNumber(text) && !isStockAnswer(text)', 'false', personal, 'src/policy/draft/own-words.test.ts'),
  mutant('looks-listed', 'src/policy/draft/free-text.ts', 'personalLook(text) !== undefined);', 'false);', personal),
  mutant('birth-in-parts', 'src/policy/draft/birth.ts', 'if (!month) continue;', 'continue;', content),
  mutant('codes-in-bins', 'src/policy/draft/guess.ts', 'return hasHoles(column) ?', 'return wanted && hasHoles(column) ?', content),
  mutant('class-measured', 'src/policy/draft/groups.ts', 'if (alike && isPerhapsGroupName(name)', 'if (!alike && isPerhapsGroupName(name)', content),
  mutant('label-unlisted', 'src/policy/draft/free-text.ts', '2 * short > counts.size && !areLabels([...counts.keys()])', '2 * short > counts.size', content),
  mutant('shares-cut-one-by-one', 'src/query/shares.ts', 'nearestCounts(counts, total, numbers)', 'counts.map((x) => Math.max(0, x))', 'src/query/shares.test.ts'),
  mutant('share-outside-its-interval', 'src/query/shares.ts', 'low: Math.min(low, value)', 'low', 'src/query/shares.test.ts'),
  mutant('noise-unsaid', 'src/report/published-table.ts', 'warning: [table.mostlyNoise, table.arranged, table.note]', 'warning: [table.arranged, table.note]', 'test/publish.test.ts'),
  mutant('weight-and-number', 'src/count/effects.ts', 'if (inNumber && inWeight) return ofOne(range);', '', effects),
  mutant('weight-below-nought', 'src/query/derived.ts', 'if (bounds[0].num < 0n)', 'if (bounds[1].num < 0n)', 'src/query/statistics/statistics.test.ts'),
  mutant('ends-always', 'src/mechanism/ratio.ts', 'return further(alone, near) === alone ? near : alone;', 'return alone;', 'src/mechanism/ratio-ends.test.ts'),
  mutant('ends-everywhere', 'src/mechanism/ratio.ts', 'if (further(reached, near) === reached) return reached;', '', 'src/mechanism/ratio-ends.test.ts'),
  mutant('all-are-mixed', 'src/query/sampling.ts', 'mixed ? part : 1', 'part', 'src/query/sampling.test.ts'),
  mutant('reach-halved', 'src/query/statistics/reach.ts', 'const radius = deviations(', 'const radius = 0.5 * deviations(', 'src/query/statistics/reach.test.ts'),
  mutant('noise-for-dependence', 'src/query/statistics/departures.ts', ' + variance * x.noised * y.noised;', ';', 'src/query/statistics/independent.test.ts'),
  mutant('series-of-one-each', 'src/mechanism/law-series.ts', 'times === 1 ? one : one ** times', 'one', 'src/mechanism/law-sum.test.ts'),
  mutant('sparse-by-the-plain-law', 'src/query/statistics/independent.ts', 'least < few * factor', 'least < 0', 'src/query/statistics/independent.test.ts'),
  mutant('places-by-what-was-noised', 'src/query/kinds/cdf.ts', '-group.beyond(p + 1, part).half', '0', 'src/query/kinds/ordered.test.ts'),
  mutant('sampling-left-out', 'src/query/statistics/group-means.ts', 'slopes[errors.length] = sampled;', 'slopes[errors.length] = 0;', 'src/query/statistics/coverage.test.ts'),
  mutant('product-uncentred', 'src/query/statistics/moments.ts', '{ ...all, factor: multiply(all.factor, lifted) }', 'all', 'src/query/statistics/statistics.test.ts'),
  mutant('encoding-unread', 'src/engine/duckdb/loading.ts', 'if (at !== 0 || encoding === undefined) return path;', 'if (at === 0) return path;', 'test/encodings.test.ts'),
  mutant('names-listed', 'src/policy/draft/guess.ts', "if (!wanted && column.texts && isPeople(column.texts)) return out('person', 'names of people');", '', personal),
  mutant('numbering-measured', 'src/policy/draft/guess.ts', 'if (numeric && !wanted && isNumbering(', 'if (numeric && wanted && isNumbering(', personal),
  mutant('coordinates-measured', 'src/policy/draft/guess.ts', 'if (globe && (far(a) || far(b))) found.add(a.name).add(b.name);', '', personal),
  mutant('labels-of-answers', 'src/policy/draft/draft.ts', 'if (values.length <= mostPoints) return false;', 'return false;', personal),
  mutant('row-in-silence', 'src/policy/draft/draft.ts', "if (unit === undefined) return { secret: 'row', said: false };", "if (person === undefined || unit === undefined) return { secret: 'row', said: false };", panels),
  mutant('panel-by-chance', 'src/policy/draft/panel.ts', 'this.#met <= chance * pairs * alike', 'this.#met <= pairs * alike', panels),
  mutant('names-apart-by-comma', 'src/engine/name.ts', "(?:[.,]0*)?$'", "(?:[.]0*)?$'", 'src/engine/name.test.ts'),
  mutant('hint-that-is-refused', 'src/release/amend.ts', 'if (!refused) return error;', 'return error;', 'test/changed-terms.test.ts'),
];

/** Bounds of large graphs that forget somebody. */
const large = [
  mutant(
    'line-forgets-a-neighbour',
    'src/dependence/informed/line.ts',
    'brought += c * other;',
    'if (x + 1 < nodeStart[u + 1]!) brought += c * other;',
    line,
  ),
  mutant('line-forgets-the-used', 'src/dependence/informed/line.ts', 'let brought = used && !used[u] ? 0 : 1;', 'let brought = 0;', line),
  mutant(
    'worst-forgets-the-others',
    'src/dependence/informed/common-base.ts',
    'Math.max(looped, others ? worstOf(others, used?.subarray(graph.nodes), base) : 0)',
    'looped',
    line,
  ),
  mutant(
    'shape-forgets-strengths',
    'src/dependence/graph/distinct-pairs.ts',
    'if (odds && odds[a.tie + k] !== odds[b.tie + k]) return false;',
    '',
    line,
  ),
  mutant(
    'shape-forgets-a-tie',
    'src/dependence/graph/distinct-pairs.ts',
    'number => end - tie;',
    'number => end - tie - 2;',
    line,
  ),
];

/** Costs by the values of public columns. */
const slices = 'src/mechanism/slices.test.ts';
const weeks = 'test/weeks.test.ts';
const chains = 'src/dependence/chain/chain-leakage.test.ts';
const pairs = 'src/dependence/chain/pair-leakage.test.ts';
const followed = 'src/learn/transitions/transitions.test.ts';
const parts = [
  mutant('slice-open-end', 'src/count/effects.ts', 'test.to >= last - first ? Number.POSITIVE_INFINITY : first + test.to', 'first + test.to', effects),
  mutant('slice-of-missing', 'src/count/effects.ts', '[...ranges, ...(missing ? [none] : [])]', '[...ranges]', effects),
  mutant('places-of-others-kept', 'src/count/effects.ts', 'isFixed(shape.counting, key, columns));', 'isFixed(shape.counting, key, slicingsOf(policy)));', effects, 'test/given-away.test.ts'),
  mutant('step-kept-by-others', 'src/release/running-plan.ts', 'isSlice(record) && columnsIn(boxIn(record).of).includes(step);', 'isSlice(record);', 'test/stream.test.ts'),
  mutant('chain-along-alone', 'src/dependence/chain/chain-amplifier.ts', 'addUp(subUp(leakage(full), toNumberUp(full)), toNumberUp(own)),', 'toNumberUp(own),', 'src/dependence/chain/chain-amplifier.test.ts'),
  mutant('chain-along-windows', 'src/dependence/chain/chain-amplifier.ts', 'subUp(leakage(full), toNumberUp(full)), toNumberUp(own)),', 'subUp(leakage(full), mulUp(window, toNumberUp(full))), toNumberUp(own)),', 'src/dependence/chain/chain-amplifier.test.ts'),
  mutant('parts-without-end', 'src/accounting/account.ts', 'partsTogether(after) > mostParts &&', 'partsTogether(after) > 2 * mostParts &&', 'src/accounting/by-slice.test.ts'),
  mutant('pure-by-values-for-nothing', 'src/accounting/by-slice.ts', 'counted(costAt(rho, v), costAt(e, v))', 'counted(costAt(rho, v), zero)', 'src/accounting/by-slice.test.ts'),
  mutant('dearest-value-forgotten', 'src/accounting/by-slice.ts', '.filter((v) => isAmong(first!, v))', '.filter((v) => isAmong(first!, v)).slice(0, 1)', 'src/accounting/by-slice.test.ts'),
  mutant('beyond-the-end-for-nothing', 'src/ties/slicing-column.ts', 'positionOf(endless, numberOf(cell))', 'positionOf(grid, numberOf(cell))', weeks),
  mutant('chain-ends-as-declared', 'src/dependence/chain/chain-amplifier.ts', 'lastOf(base.costs, last)', 'last', 'test/sequences.test.ts'),
  mutant('public-is-no-term', 'src/terms/digest.ts', "protect.secret === 'answer' || protect.secret === 'row' || protect.secret === 'step'", "protect.secret === 'answer'", weeks),
  mutant('places-for-values', 'src/ties/slicing-column.ts', ' || compare(column.step, one) !== 0', '', weeks),
  mutant('slices-for-persons', 'src/ties/slicings.ts', "secret === 'row' || secret === 'step'", "secret !== 'edge'", effects, weeks),
  mutant('everybody-for-nothing', 'src/mechanism/profile.ts', 'if (!isPositive(rest)) return own;', 'if (rest) return own;', slices, 'src/mechanism/together.test.ts', weeks),
  mutant('runs-joined-across', 'src/mechanism/slices.ts', 'run.from === last.to + 1 && equal(', 'run.from <= last.to + 2 && equal(', slices),
  mutant('neighbouring-weeks-for-nothing', 'src/accounting/by-slice.ts', 'knows(route, slicing) && leakageOf(route, slicing, costs) <=', 'toNumberDown(largestOf(costs, columnsIn(slicing).length)) <=', weeks),
  mutant('shape-without-values', 'src/dependence/graph/distinct.ts', 'shape[nodes.length + k + 1] = comparable(told.values[nodes[k]!])', 'shape[nodes.length + k + 1] = 0', 'src/dependence/graph/distinct.test.ts'),
  mutant('window-of-one', 'src/dependence/chain/chain-leakage.ts', 'const width = Math.min(window, end - start + 1);', 'const width = 1;', chains),
  mutant('future-for-nothing', 'src/dependence/chain/chain-leakage.ts', "along(mirrored(spells), leapsOf(law, 'forward', gaps), gaps)", "along(mirrored(spells).map((s) => ({ ...s, cost: 0 })), leapsOf(law, 'forward', gaps), gaps)", chains),
  mutant('leap-over-for-nothing', 'src/dependence/chain/chain-leakage.ts', 'for (; k < steps - 1; k++) between = addUp(between, latest.cost(k));', 'k = steps;', chains),
  mutant('gaps-forget', 'src/dependence/chain/chain-leakage.ts', 'gaps ? Math.max(flow, leaps[0]!.carried(addUp(flow, cost))) :', 'gaps ? leaps[0]!.carried(addUp(flow, cost)) :', chains),
  mutant('steady-past-only', 'src/dependence/chain/chain-leakage.ts', 'addUp(own, addUp(past, future))', 'addUp(own, Math.max(past, future))', 'test/sequences.test.ts'),
  mutant('level-untested', 'src/dependence/chain/chain-leakage.ts', '.find((raised) => after(raised) <= raised)', '.find(() => true)', chains),
  mutant('pair-leap-for-nothing', 'src/dependence/chain/pair-leakage.ts', 'spent = addUp(spent, before[k]!.cost);', 'spent = 0;', pairs),
  mutant('pair-future-for-nothing', 'src/dependence/chain/pair-leakage.ts', 'along(spells.toReversed(), law.forward, law.pairs)', 'along(spells.toReversed().map((s) => ({ ...s, cost: 0 })), law.forward, law.pairs)', pairs),
  mutant('pair-level-from-nothing', 'src/dependence/chain/pair-leakage.ts', 'if (holds(raised)) return raised;', 'return start;', pairs),
  mutant('pair-one-way', 'src/dependence/chain/pair-law.ts', 'Math.max(cross(above, below, u, v, s, t), cross(above, below, u, v, t, s))', 'cross(above, below, u, v, s, t)', pairs),
  mutant('steps-in-one-pair', 'src/learn/transitions/learn-transitions.ts', 'return rowsWithin(1, twoPairs);', 'return rowsMoved(2);', followed),
  mutant('steps-of-a-person', 'src/learn/transitions/learn-transitions.ts', 'return rowsMoved(protect.maxRows - 1);', 'return rowsMoved(protect.maxRows - 2);', followed),
  mutant('steps-counted-again', 'src/learn/transitions/followed-by.ts', "'copies = 1 AND later_copies = 1'", "'copies > 0'", followed),
  mutant('pure-beside-sums', 'src/dependence/gaussian/sums.ts', 'divUp(1, (bestOrder(', 'divUp(0.5, (bestOrder(', 'src/dependence/gaussian/sums.test.ts'),
  mutant('failure-at-any-order', 'src/accounting/belief-delta.ts', 'bound.deltaBelow?.(spent, kept, less) ?? ', '', 'src/accounting/belief-delta.test.ts'),
  mutant('one-reading-in-all-encodings', 'src/ties/slicing-column.ts', 'encoding === undefined ? column.type', 'true ? column.type', 'test/given-away.test.ts'),
  mutant('steps-seen-once', 'src/ask/stream-steps.ts', '(await session.moment()) === moment ? seen', 'true ? seen', 'test/stream.test.ts'),
  mutant('parts-at-half-price', 'src/dependence/gaussian/sums.ts', 'parts ? mulUp(parts[u]!, base) : base', 'parts ? mulUp(parts[u]!, base / 4) : base', 'src/dependence/gaussian/sums.test.ts'),
  mutant('steps-share-a-time', 'src/ties/sequence.ts', 'if (steps.repeated > 0) throw noOrder(d);', '', 'test/sequences.test.ts'),
];

/** Running totals, and what is drawn of what was paid for before. */
const running = 'src/mechanism/running/running-totals.test.ts';
const streamed = 'test/stream.test.ts';
const overTime = [
  mutant('totals-step-moves-once', 'src/mechanism/running/way.ts', "'within a step' ? 1n : 2n", "'within a step' ? 1n : 1n", running),
  mutant('totals-no-slack', 'src/mechanism/running/convolution.ts', 'return 2n;', 'return 0n;', running),
  mutant('totals-column-short', 'src/mechanism/running/way.ts', 't <= way.horizon', 't < way.horizon', running),
  mutant('totals-person-stays', 'src/release/running-plan.ts', "if (policy.protect.secret === 'answer') return measure;", "if (policy.protect.secret !== 'row') return measure;", streamed),
  mutant('parts-unpaid', 'src/release/charge.ts', 'if (paid && sameProfile(paid.entry.profile, booked))', 'if (paid)', streamed),
  mutant('parts-twice', 'src/release/charge.ts', 'onceOnly(`part ${request.prepaid!.part} of entry ${payer.sequence}`)', 'costTogether([])', streamed),
  mutant('steps-not-public', 'src/count/public-steps.ts', 'if (column.public !== true)', 'if (false)', streamed),
];

/** Pairs of values: how far they move a measure, what is booked along them, and what was told without noise. */
const pairEffects = 'src/count/pair-effects.test.ts';
const byPairs = 'src/accounting/by-pairs.test.ts';
const pairTerms = 'test/pairs.test.ts';
const ordered = 'src/mechanism/ordered/ordered.test.ts';
const orderedEffects = 'src/count/ordered-effects.test.ts';
const alongPairs = [
  mutant('soft-one-way', 'src/learn/kmeans/soft.ts', 'const moved = 2 * parts.reduce', 'const moved = parts.reduce', 'src/learn/kmeans/soft.test.ts'),
  mutant('soft-inward', 'src/learn/kmeans/soft.ts', 'whole * last === product ? whole : whole + 1', 'whole', 'src/learn/kmeans/soft.test.ts'),
  mutant('ordered-one-tree', 'src/mechanism/ordered/strategy.ts', 'movedBy(strategy, crossed, 2n)', 'movedBy(strategy, crossed, 1n)', ordered, orderedEffects),
  mutant('ordered-presence-in-one-block', 'src/mechanism/ordered/strategy.ts', 'movedBy(strategy, strategy.ends.length, 1n)', 'movedBy(strategy, 1, 1n)', ordered, orderedEffects),
  mutant('ordered-multiple-forgotten', 'src/mechanism/ordered/strategy.ts', 'l1: tree * most, l2squared: tree ** 2n * most', 'l1: most, l2squared: most', ordered),
  mutant('ordered-end-not-crossed', 'src/count/ordered-positions.ts', 'if (high - low > most) most = high - low;', 'if (high - low - 1 > most) most = high - low - 1;', orderedEffects),
  mutant('person-one-row-moves', 'src/count/pair-effects.ts', "secret === 'person' ? BigInt(maxRows) : 1n", '1n', 'src/count/person-pairs.test.ts', 'test/policy-sceptic.test.ts'),
  mutant('person-rows-by-content', 'src/count/kept-rows.ts', '  if (pairs) {\n', '  if (pairs && maxRows < 1) {\n', 'src/count/chosen-rows.test.ts'),
  mutant('person-rows-chosen', 'src/count/chosen-rows.ts', 'if (pairs) return { beyond: beyond.table };', '', 'test/person-pairs.test.ts', 'src/count/chosen-rows.test.ts'),
  mutant('folded-apart', 'src/count/groups-to-cells.ts', 'WHERE sharing > 1 AND cell IS NOT NULL GROUP BY cell', 'WHERE sharing > 1 AND cell IS NOT NULL GROUP BY cell, placed.k0', 'src/count/chosen-rows.test.ts'),
  mutant('chosen-twice', 'src/count/kept-rows.ts', ' AND ${person} NOT IN (SELECT ${personColumn} FROM ${chosen.beyond})', '', 'src/count/chosen-rows.test.ts'),
  mutant('nobody-chosen', 'src/count/kept-rows.ts', ' WHERE ${person} IS NOT NULL${others}', ' WHERE true${others}', 'src/count/chosen-rows.test.ts'),
  mutant('unit-paired', 'src/policy/pairs/declare.ts', "if (secret !== 'person' || unit === undefined || !named.includes(unit)) return;", 'return;', 'test/pairs.test.ts'),
  mutant('held-twice', 'src/view/compile.ts', '${personIn(tables)} NOT IN (SELECT ${beyondName} FROM ${held.beyond})', 'true', 'src/view/held.test.ts'),
  mutant('held-one-row-more', 'src/view/limits.ts', 'HAVING count(*) > ${most}', 'HAVING count(*) > ${most + 1}', 'src/view/held.test.ts', 'src/view/rows-per-person.test.ts'),
  mutant('held-rows-that-are-left-out', 'src/view/held.ts', 'if (!table && data !== whole) continue;', '', 'src/view/held.test.ts'),
  mutant('person-pairs-of-views', 'src/view/declared.ts', 'const { pairs: ___, ...protect } = policy.protect;', 'const { ...protect } = policy.protect;', 'test/person-pairs.test.ts'),
  mutant('forest-of-rings', 'src/mechanism/ordered/forest.ts', 'if (parent[w] !== -2) return undefined;', 'if (parent[w] !== -2) continue;', 'src/count/forest-effects.test.ts'),
  mutant('forest-totals-noised-or-not', 'src/query/kinds/forest.ts', 'if (totals.size > 0) return undefined;', '', 'src/count/forest-effects.test.ts'),
  mutant('forest-depth-one', 'src/mechanism/ordered/forest.ts', 'Math.max(most, wayUp(forest, v).length)', 'Math.max(most, Math.min(1, wayUp(forest, v).length))', 'src/count/forest-effects.test.ts'),
  mutant('pairs-no-answer-stays', 'src/count/pair-effects.ts', "lost: pairs === undefined || pairs.missing === 'any'", 'lost: false', pairEffects),
  mutant('pairs-out-forgotten', 'src/count/pair-effects.ts', 'moves.out ? farther(within, most) : within', 'within', pairEffects),
  mutant('pairs-over-once', 'src/count/pair-effects.ts', 'touched === 1n ? times(2n, most)', 'touched === 1n ? most', pairEffects),
  mutant('pairs-one-factor-moves', 'src/count/pair-effects.ts', 'number.moves * weight.most + number.most * weight.moves', 'number.moves * weight.most', pairEffects),
  mutant('pairs-exact-under-ties', 'src/count/pair-effects.ts', 'own.l1 === 0n && areStrangers(policy)', 'own.l1 === 0n', pairEffects, pairTerms),
  mutant('pairs-window-short', 'src/policy/pairs/cliques.ts', '.from - to <= steps', '.from - to < steps', 'src/policy/pairs/pairs.test.ts'),
  mutant('pairs-inward', 'src/policy/pairs/steps.ts', 'rounding)) + 1n', 'rounding))', 'src/terms/pairs.test.ts'),
  mutant('pairs-others-along', 'src/dependence/graph-amplifier.ts', 'if (!used) return addUp(subUp(leakage(full), spent), less);', 'if (!used) return leakage(own);', 'src/dependence/pairs-with-ties.test.ts'),
  mutant('pairs-unused-forgotten', 'src/dependence/graph-amplifier.ts', 'used[u] ? addUp(subUp(leak, spent), less) : leak)', 'addUp(subUp(leak, spent), less))', 'src/dependence/pairs-with-ties.test.ts'),
  mutant('pairs-rest-free', 'src/mechanism/profile.ts', 'isPositive(rest) ? add(own, rest) : own', 'own', byPairs),
  mutant('pairs-gaussian-under-ties', 'src/accounting/by-pairs.ts', 'if (!gaussian || !amplifier.strangers)', 'if (!gaussian)', byPairs),
  mutant('pairs-other-digest', 'src/release/relied.ts', 'what !== pairsOf(pairs.digest) || dependence.length > 0', 'dependence.length > 0', pairTerms),
  mutant('pairs-ties-later', 'src/release/relied.ts', ' || dependence.length > 0;', ';', pairTerms),
  mutant('pairs-reading-out-of-terms', 'src/policy/pairs/declare.ts', 'readingOf(columns.get(name)!), ', '', 'src/terms/pairs.test.ts'),
  mutant('pairs-rounded-up', 'src/mechanism/record-class.ts', "isSliced(record) || kindOf(record) === 'paired'", 'isSliced(record)', 'src/ledger/index/total.test.ts'),
];

/** Totals that everybody knows, and what other publishers spent. */
const knownEffects = 'src/count/known-effects.test.ts';
const together = 'src/policy/known/together.test.ts';
const knownTotals = 'test/known-totals.test.ts';
const publishers = 'test/publishers.test.ts';
const beside = [
  mutant('known-one-record', 'src/count/known-effects.ts', 'l1: records * l1,', 'l1,', knownEffects),
  mutant('known-squares-apart', 'src/count/known-effects.ts', 'l2squared: records ** 2n * l2squared', 'l2squared: records * l2squared', knownEffects),
  mutant('known-swap', 'src/policy/known/together.ts', 'return { most: kinds.length, singles: true };', 'return { most: 2, singles: true };', together),
  mutant('known-missing-forgotten', 'src/count/known-effects.ts', 'passing.length + (missing ? 1 : 0)', 'passing.length', knownEffects),
  mutant('known-carries-over', 'src/accounting/open-account.ts', 'policy.known ? `known totals ${policy.known.digest} beside ${whose}` : whose', 'whose', knownTotals),
  mutant('known-told-from-data', 'src/count/noisy-cells.ts', 'add(m.published ?? exact)', 'add(exact)', knownTotals),
  mutant('known-for-analyses', 'src/release/allowance.ts', 'if (policy.known && !reading.together)', 'if (false)', knownTotals),
  mutant('others-forgotten', 'src/release/charge.ts', '(withOthers(account, after), withOthers(account, before), own)', '(after, before, own)', publishers),
  mutant('others-one-record', 'src/accounting/others.ts', 'BigInt(known?.together ?? 1)', '1n', publishers),
  mutant('entered-any-secret', 'src/release/enter.ts', 'if (guarantee.secret !== policy.protect.secret)', 'if (false)', publishers),
  mutant('entered-unasked-over', 'src/release/enter.ts', 'entering.over || admit(', 'true || admit(', publishers),
];

/** Many tables at once. */
const residual = 'src/mechanism/residual/residual.test.ts';
const onRecord = 'test/estimate.test.ts';
const tables = [
  mutant('tables-known-alone', 'src/workload/choice.ts', '(policy.known?.together ?? 1)', '1', 'test/workload-known.test.ts'),
  mutant('estimate-other-rows', 'src/workload/past.ts', 'const found = on !== ground ? []', 'const found = on === undefined ? []', onRecord),
  mutant('estimate-other-cells', 'src/workload/past.ts', ').of !== table.of', ").of === ''", onRecord),
  mutant('estimate-never-apart', 'src/workload/together.ts', '< beyond) return', '< 1e9) return', onRecord),
  mutant('tables-half-a-move', 'src/mechanism/residual/move.ts', '2n * (alone - product(apart))', 'alone - product(apart)', residual),
  mutant('tables-nobody-leaves', 'src/mechanism/residual/move.ts', 'l2squared: larger(l2squared, removed.l2squared)', 'l2squared', residual),
  mutant('tables-fractions', 'src/mechanism/residual/part.ts', '(2n * scale + cells) / (2n * cells)', 'scale / cells + 1n', residual),
  mutant('tables-person-once', 'src/mechanism/residual/residual.ts', 'l2squared: m * m * l2squared', 'l2squared: m * l2squared', residual, every),
  mutant('tables-no-squares', 'src/mechanism/residual/worst.ts', '2n * a + y[i]! * y[i]! + missing', '2n * a + missing', residual),
  mutant('tables-none-missing', 'src/mechanism/residual/worst.ts', '+ y[i]! * y[i]! + missing;', '+ y[i]! * y[i]!;', residual),
  mutant('tables-of-three-free', 'src/mechanism/residual/worst.ts', 'alone += list.reduce(larger)', 'alone += list[1]!', residual),
  mutant('tables-tangent-halved', 'src/mechanism/residual/worst.ts', 'alone + (at(t) + 1n) / 2n', 'alone + at(t) / 4n', residual),
  mutant('tables-one-row-a-person', 'src/workload/choice.ts', "protect.secret === 'person' ? protect.maxRows : (policy", '(policy', every),
  mutant('tables-come-and-go', 'src/workload/choice.ts', "addsRemoves(policy) ? 'removed' : 'replaced';", "'removed';", every),
  mutant('tables-rely-on-nothing', 'src/workload/release.ts', '    relied: reliedBy(session.policy, workload, mechanism),\n', '', 'test/workload.test.ts'),
];

/** In what SQL says of rows. */
// biome-ignore format: one line per fault
const sql = [
  mutant('keys-one-row', 'src/learn/keys/learn-keys.ts', 'return rowsMoved(table === undefined ? protect.maxRows : tables!.get(table)!.maxRows);', 'return rowsMoved(1);', 'src/learn/keys/learn-keys.test.ts'),
  mutant('keys-that-occur-only', 'src/learn/keys/prefixes.ts', "(prefix === '' ? twoDigits : [...twoDigits, theEnd])", "(prefix === '' ? twoDigits : [theEnd])", 'src/learn/keys/learn-keys.test.ts'),
  mutant('day-of-month-unbounded', 'src/query/calendar.ts', "1, part === 'day' ? 31 : 366)", "1, part === 'day' ? 3 : 366)", 'test/dates.test.ts'),
  mutant('derived-answers-unpaid', 'src/count/measure.ts', 'derived?.find((column) => column.name === name)?.bases ?? [name]', '[name].filter(() => derived === undefined || name)', effects),
  mutant('persons-in-one-cell', 'src/count/effects.ts', '(isSteady(policy, shape.counting) ? 1n : m) * touched', 'touched', effects),
  mutant('either-taken-for-both', 'src/count/effects.ts', 'parts.reduce(either, { ranges: [], missing: false })', 'parts.reduce(both, everyValue)', effects),
  mutant('pairs-of-derived-stay', 'src/count/pair-effects.ts', '[moves.out, moves.over, moves.inside] = [true, true, true];', '', 'src/count/pair-effects.test.ts'),
  mutant('group-not-moved-to-its-place', 'src/count/read-column.ts', '`(${dialect.whole(by)} - (${from}))`', '`(${dialect.whole(by)})`', 'src/count/count.test.ts'),
  mutant('said-once-to-stop', 'src/engine/duckdb/connections.ts', 'again ??= setInterval(() => connection.interrupt(), 50);', '', 'src/engine/duckdb/connections.test.ts'),
  mutant('group-without-upper-bound', 'src/count/read-column.ts', 'WHEN ${x} > ${top} THEN ${top} ELSE ${x} END`', 'ELSE ${x} END`', 'src/count/count.test.ts'),
  mutant('release-without-end', 'src/engine/time-left.ts', 'Math.min(deadline, until - performance.now())', 'deadline', 'src/engine/limits.test.ts'),
  mutant('rows-chosen-without-numbers', 'src/count/kept-rows.ts', "column.type === 'real' ? dialect.bits(cell) : cell", "column.type === 'real' ? '1' : cell", 'src/engine/duckdb/duckdb.test.ts'),
  mutant('not-left-out', 'src/query/filter.ts', 'return { ...test, negate: !test.negate };', 'return test;', 'src/query/expressions.test.ts'),
  mutant('products-of-two-ends', 'src/query/quantity.ts', 'p.low * q.low, p.low * q.high, p.high * q.low, p.high * q.high', 'p.low * q.low, p.high * q.high', 'src/query/expressions.test.ts'),
  mutant('nothing-times-something', 'src/query/quantity.ts', '{ of: affine(0n, 0n, a.of), offset: zero, scale: zero, low: 0n, high: 0n }', '{ ...a, offset: zero, scale: zero }', 'src/query/neighbours.test.ts'),
  mutant('many-taken-for-steady', 'src/view/rows-per-person.ts', 'partners(policy, part) === 1 && part.on.every', 'part.on.every', 'src/query/neighbours.test.ts'),
  mutant('different-values-as-sums', 'src/accounting/reading.ts', '!isDistinct(m.counting) && ', '', 'src/query/neighbours.test.ts'),
  mutant('places-beyond-their-domain', 'src/count/derived.ts', 'n >= 0 && n <= last ? n : -1', 'n >= 0 ? n : -1', 'src/query/neighbours.test.ts'),
];

/** Of the service: who is let in, who sees what, and what pays. */
const door = [
  mutant(
    'csrf-unasked',
    'src/service/who.ts',
    "c.req.method === 'GET' || c.req.method === 'HEAD'",
    "c.req.method !== 'DELETE'",
    'test/service/sign-in.test.ts',
  ),
  mutant(
    'others-entries',
    'src/service/routes/entry.ts',
    "caller.role === 'analyst' && entry.analyst !== caller.name",
    "caller.role === 'auditor' && entry.analyst !== caller.name",
    'test/service/kinds.test.ts',
  ),
  mutant(
    'stream-outlives-token',
    'src/service/job.ts',
    'if (mayListen()) listener.enqueue(bytes);',
    'if (mayListen) listener.enqueue(bytes);',
    'test/service/leave-nothing-open.test.ts',
  ),
  mutant(
    'draft-confirmed-twice',
    'src/service/drafts.ts',
    'this.#read(id).id, claimed);',
    'this.#read(id).id, `${claimed}${performance.now()}`);',
    'test/service/leave-nothing-open.test.ts',
  ),
  mutant(
    'file-holds-a-turn',
    'src/service/answer.ts',
    'route.works && !route.takesFile',
    'route.works',
    'test/service/leave-nothing-open.test.ts',
  ),
  mutant(
    'sent-twice-paid-twice',
    'src/service/alike.ts',
    'before ? before.then(work, work) : work()',
    'work()',
    'test/service/sent-twice.test.ts',
  ),
  mutant(
    'figure-holds-a-turn',
    'src/service/answer.ts',
    'route.aside ? service.figures : service.turns',
    'service.turns',
    'test/service/leave-nothing-open.test.ts',
  ),
  mutant(
    'analyst-reads-all-pages',
    'src/ask/ledger-page.ts',
    'analyst === undefined || entry.analyst === analyst',
    'true',
    'src/ask/ledger-page.test.ts',
  ),
  mutant('code-twice', 'src/service/sessions.ts', 'unlinkSync(file.place);', 'void file.place;', 'test/service/sign-in.test.ts'),
  mutant(
    'session-outlives-token',
    'src/service/sessions.ts',
    'return token && this.#tokens.stands(token, now) ? token : undefined;',
    'return token;',
    'test/service/sign-in.test.ts',
  ),
];

/** Servers: which session, which rows, which reader; what a ledger there believes. */
const servers = [
  mutant('server-session-not-looked-at', 'src/engine/postgres/connection.ts', 'if (results.at(-1)!.rows[0]?.[0] !== this.#mark) {', 'if (results.length === 0) {', 'test/postgres/pooled.spec.ts'),
  mutant('server-another-reader', 'src/engine/postgres/connection.ts', "    'SET ROLE NONE',\n", '', 'test/postgres/settings.spec.ts'),
  mutant('server-row-security', 'src/engine/postgres/connection.ts', "    'SET row_security = on',\n", '', 'test/postgres/settings.spec.ts'),
  mutant('server-some-rows-of-an-index', 'src/engine/postgres/connection.ts', "    'SET gin_fuzzy_search_limit = 0',\n", '', 'test/postgres/settings.spec.ts'),
  mutant('server-quotes-names', 'src/engine/postgres/connection.ts', "    'SET quote_all_identifiers = off',\n", '', 'test/postgres/settings.spec.ts'),
  mutant('server-long-cells-fetched', 'src/engine/postgres/pin.ts', 'connection.blocks(this.#reading.showShort(statement), atOnce)', 'connection.blocks(this.#reading.show(statement), atOnce)', 'test/postgres/memory.spec.ts'),
  mutant('server-long-names', 'src/engine/postgres/dialect.ts', "return `CASE WHEN octet_length(${cell}) <= ${longestText} THEN CASE WHEN ${simple}", "return `CASE WHEN octet_length(${cell}) <= 1e12 THEN CASE WHEN ${simple}", 'test/postgres/memory.spec.ts'),
  mutant('server-long-codes', 'src/engine/postgres/dialect.ts', "`btrim(${short(cell)}, ${blanks})`", "`btrim(${cell}, ${blanks})`", 'test/postgres/memory.spec.ts'),
  mutant('server-long-lists', 'src/engine/postgres/table.ts', 'const mostStored = longestText / 4;', 'const mostStored = 1e12;', 'test/postgres/memory.spec.ts'),
  mutant('server-today', 'src/engine/postgres/table.ts', 'if (dated! > 0)', 'if (dated! > 1e9)', 'test/postgres/faults.spec.ts'),
  mutant('server-changes-not-looked-at', 'src/engine/postgres/marks.ts', 'if ((await readMarks(connection, reached)) !== marks) throw changedMeanwhile();', 'await readMarks(connection, reached);', 'test/postgres/exchanged.spec.ts'),
  mutant('server-readers-not-looked-at', 'src/engine/postgres/marks.ts', '[tablesIn(numbers), readersOf(numbers),', '[tablesIn(numbers),', 'test/postgres/exchanged.spec.ts'),
  mutant('server-brought-back', 'src/engine/postgres/postgres.ts', "concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())", "concat_ws(' ', pg_current_snapshot())", 'test/postgres/exchanged.spec.ts'),
  mutant('server-superuser', 'src/engine/postgres/server.ts', "if (superuser === 't' || files === 't')", "if (superuser === undefined)", 'test/postgres/settings.spec.ts', 'test/postgres/faults.spec.ts'),
  mutant('ledger-rows-swallowed', 'src/ledger/postgres/rows.ts', 'if (Number(rows[0]?.[0]) !== parts.length)', 'if (Number(rows[0]?.[0]) > parts.length)', 'test/postgres/ledger-refusing.spec.ts'),
  mutant('ledger-rollback-is-commit', 'src/ledger/postgres/server.ts', "return command === 'COMMIT' ? { state: 'committed' } : { state: 'undone' };", "return { state: command === 'NEVER' ? 'undone' : 'committed' };", 'test/postgres/ledger-refusing.spec.ts'),
  mutant('ledger-lost-is-undone', 'src/ledger/postgres/server.ts', 'if (isUndone(error) || !last) return', 'if (isLost(error) || isUndone(error) || !last) return', 'test/postgres/ledger.spec.ts'),
  mutant('ledger-look-believes', 'src/ledger/postgres/server.ts', "return rows[0]?.[0] === hash ? 'committed' : 'undone';", "return hash ? 'committed' : 'undone';", 'test/postgres/ledger.spec.ts'),
  mutant('ledger-look-without-lock', 'src/ledger/postgres/server.ts', "await connection.begin(`BEGIN ISOLATION LEVEL READ COMMITTED; ${lock}`);", "await connection.begin('BEGIN ISOLATION LEVEL READ COMMITTED');", 'test/postgres/ledger-refusing.spec.ts'),
  mutant('ledger-older-accepted', 'src/ledger/postgres/server-ledger.ts', 'if (index.link(seen.sequence)?.hash === seen.hash) return;', "if (index.link(seen.sequence)?.hash !== '') return;", 'test/postgres/ledger.spec.ts'),
  mutant('ledger-witness-ignored', 'src/ledger/postgres/server-ledger.ts', 'if (told) refuseUnwitnessed(index, told, place);', 'void told;', 'test/postgres/ledger.spec.ts'),
  mutant('ledger-books-kept-after-failure', 'src/ledger/postgres/server-ledger.ts', 'if (on.lines.length > 0) remembered = undefined;', 'void on;', 'test/postgres/ledger-refusing.spec.ts', 'test/postgres/ledger.spec.ts'),
  mutant('ledger-last-link-not-hashed', 'src/ledger/postgres/server-ledger.ts', 'if (stored && !fits(stored, fetched.lastBefore())) throw', 'if (stored && fetched.lastBefore() && !stored.hash) throw', 'test/postgres/ledger.spec.ts'),
  mutant('ledger-not-waiting-for-disk', 'src/ledger/postgres/server.ts', "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END", "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'off' END", 'test/postgres/ledger.spec.ts'),
  mutant('ledger-fsync', 'src/ledger/postgres/schema.ts', "if (fsync !== 'on')", "if (fsync === '')", 'test/postgres/ledger.spec.ts'),
  mutant('cluster-page-again', 'src/engine/trino/client.ts', 'if (fetched.has(at.next)) throw broken();', '', 'src/engine/trino/client.test.ts'),
  mutant('cluster-page-of-others', 'src/engine/trino/client.ts', 'if (page.id !== at.id) throw broken();', '', 'src/engine/trino/client.test.ts'),
  mutant('cluster-types-change', 'src/engine/trino/client.ts', 'if (fields && at.columns && !sameFields(fields, at.columns)) throw broken();', '', 'src/engine/trino/client.test.ts'),
  mutant('cluster-half-an-answer', 'src/engine/trino/client.ts', "if (at.state !== 'FINISHED' || !fields) throw broken();", 'if (!fields) throw broken();', 'src/engine/trino/client.test.ts'),
  mutant('cluster-password-in-the-clear', 'src/engine/trino/client.ts', "...(tls &&\n        password !== undefined &&", '...(password !== undefined &&', 'src/engine/trino/client.test.ts'),
];

export const mutants = [
  ...sql,
  ...synthetic,
  ...beside,
  ...tables,
  ...found,
  ...large,
  ...cost,
  ...scale,
  ...sensitivity,
  ...admission,
  ...routing,
  ...decided,
  ...rowsOfFound,
  ...silent,
  ...parts,
  ...overTime,
  ...alongPairs,
  ...door,
  ...servers,
];
