import { surveyBatch } from '../../analysis/survey/query.js';
import { fromNumber, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import { writeFolder } from '../../base/files/write-file.js';
import { existsSync } from '../../base/platform/files.js';
import { join } from '../../base/platform/paths.js';
import { posteriorAtMost } from '../../policy/belief.js';
import type { Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import type { Release } from '../../release/session/receipt.js';
import { demoQuestions, demoSurvey } from './demo-people.js';
import { type OpenSettings, openHandles } from './open-handles.js';

/** One survey released twice: as if people were strangers, and with their households declared. */
export interface Demo {
  readonly home: string;
  readonly people: number;
  readonly households: number;
  readonly questions: number;
  readonly strangers: DemoRelease;
  readonly declared: DemoRelease;
  /** Released counts by party. */
  readonly party: AnswerTable;
}
/** Released number of people in each party without any trust. */
export interface DemoFinding {
  readonly party: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}
export interface DemoRelease {
  /** Half width of a count's confidence interval. */
  readonly error: number;
  /** Leakage to an attacker who knows the households. */
  readonly leakage: number;
  /** Highest posterior from a prior of 10 %, for an attacker who ignores the ties and for one who knows them. */
  readonly ignoring: number;
  readonly knowing: number;
  readonly finding: readonly DemoFinding[];
  /** Folder that the demo was written to. */
  readonly folder: string;
}

type Write = (folder: string, release: Release, policy: Policy) => Promise<void>;

const policyText = (population: string, dependence: string) => `# Made by "fugu demo".
data:       { source: survey.csv }
protect:    { secret: row, unit: person }
budget:     { epsilon: 1 }
population: ${population}
ledger:     ledger.db
dependence: ${dependence}
columns:
${Object.entries(demoQuestions)
  .map(([name, values]) => `  ${name}: { type: category, values: [${values.map((v) => `"${v}"`).join(', ')}] }`)
  .join('\n')}
  age:   { type: integer, bounds: [18, 90] }
  media: { type: multi, values: [tv, web, paper], separator: ";" }
`;

const households = '[{ kind: groups, by: household, oddsRatio: 10, hidden: true, maxSize: 6 }]';

/** Reason for a further budget: the same made-up people have one in every policy of the demo. */
const madeUpPeople = 'made-up people of "fugu demo"';

/** Runs the demo in a fresh folder: its own ledger is thrown away, which a real one never is. */
export async function demo(out: string, write: Write, settings: OpenSettings = {}): Promise<Demo> {
  const survey = demoSurvey();
  const home = freshFolder(out);
  const files = [
    ['survey.csv', survey.csv],
    ['strangers.yaml', policyText('demo-strangers', 'none')],
    ['households.yaml', policyText('demo-households', households)],
    // Policy for the reader's own questions: the same people, nothing spent yet.
    ['yours.yaml', policyText('demo-yours', households)],
  ] as const;
  writeFolder(home, files, { hint: 'Choose another folder with --out.' });
  const madeUp = { ...settings, newBudget: madeUpPeople };
  const releaseNamed = (name: string) => releaseSurvey(join(home, `${name}.yaml`), join(home, name), write, madeUp);
  const strangers = await releaseNamed('strangers');
  const tied = await releaseNamed('households');
  // Leakage of the first release to an attacker who knows the households: its base cost under the second policy's ties.
  const base = strangers.release.receipt.epsilon;
  const leaked = tied.leakage(base);
  // The budget for one's own questions gets its `newBudget` reason here, so that the user need not give one.
  await (await openHandles(join(home, 'yours.yaml'), { ...madeUp, claimAhead: true })).close();
  const { people } = survey;
  return {
    home,
    people,
    households: survey.households,
    questions: Object.keys(demoQuestions).length + 2,
    strangers: {
      error: strangers.error,
      leakage: leaked,
      ignoring: after(base),
      knowing: after(leaked),
      finding: findingOf(strangers.release),
      folder: strangers.folder,
    },
    declared: {
      error: tied.error,
      leakage: 1,
      ignoring: after(tied.baseCost),
      knowing: after(1),
      finding: findingOf(tied.release),
      folder: tied.folder,
    },
    party: partyOf(tied.release),
  };
}

const partyOf = (release: Release): AnswerTable => release.tables.find((t) => t.name.includes('party'))!;
const trustByParty = { kind: 'histogram', column: 'trust', by: ['party'] } as const;
const findingOf = (release: Release): readonly DemoFinding[] =>
  release.tables
    .at(-1)!
    .rows.flatMap(({ keys: [party, trust], value, low, high }) =>
      trust === '1' && demoQuestions.party.some((p) => p === party)
        ? [{ party: party!, value: value ?? 0, low: low ?? 0, high: high ?? 0 }]
        : [],
    );
const halfWidth = ({ rows }: AnswerTable): number => (rows[0]!.high! - rows[0]!.low!) / 2;

function freshFolder(out: string): string {
  for (let k = 1; ; k++) {
    const home = join(out, `run-${k}`);
    if (!existsSync(home)) return home;
  }
}

async function releaseSurvey(file: string, folder: string, write: Write, settings: OpenSettings) {
  const { session, policy, close } = await openHandles(file, settings);
  try {
    const question = { queries: [...surveyBatch(policy).queries, trustByParty] };
    const options = { epsilon: '1', label: 'survey: one histogram per column, and trust by party' };
    // The session gets the question text, so that a service on the demo can show the answer again.
    const release = await session.withQuestion(question, options).release(question, options);
    await write(folder, release, policy);
    const [route] = session.account.routes;
    return {
      folder,
      release,
      error: halfWidth(partyOf(release)),
      baseCost: toNumber(route!.pureCapacity),
      leakage: (base: number) => route!.amplifier.leakage(parseRational(`${base}`)),
    };
  } finally {
    await close();
  }
}
const after = (epsilon: number): number => posteriorAtMost(rational(1, 10), fromNumber(epsilon));
