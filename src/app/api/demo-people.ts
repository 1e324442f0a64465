/** Made-up people for `fugu demo`: households whose members resemble each other. The generator is fixed, so every run is the same. */
/**
 * Given a household's leaning, members choose independently: it one time in four, else by share; all else follows from the own
 * party. Odds ratio of a row and the leaning: at most (1 + 1/3/0.15)(1 + 1/3/0.25) < 7.6 for shares 0.15 and 0.25; 10 is declared.
 */
export interface DemoSurvey {
  readonly csv: string;
  readonly people: number;
  readonly households: number;
}

const questions = {
  party: ['left', 'centre', 'right', 'none'],
  vote: ['yes', 'no', 'undecided'],
  trust: ['1', '2', '3', '4', '5'],
  news: ['tv', 'web', 'paper', 'none'],
  religion: ['a', 'b', 'none'],
  smoker: ['yes', 'no'],
  car: ['yes', 'no'],
  sport: ['daily', 'weekly', 'never'],
  pets: ['cat', 'dog', 'both', 'none'],
  commute: ['walk', 'bike', 'bus', 'car', 'home'],
} as const;
export const demoQuestions = questions;

const parties = { left: 0.3, centre: 0.25, right: 0.3, none: 0.15 } as const;
type Party = keyof typeof parties;
/** Answers by party. The survey's finding: people without a party do not trust, and do not vote. */
const trusting: Record<Party, readonly number[]> = {
  left: [0.08, 0.17, 0.3, 0.3, 0.15],
  centre: [0.05, 0.1, 0.3, 0.35, 0.2],
  right: [0.1, 0.2, 0.3, 0.27, 0.13],
  none: [0.5, 0.25, 0.15, 0.07, 0.03],
};
const voting: Record<Party, readonly number[]> = {
  left: [0.75, 0.1, 0.15],
  centre: [0.7, 0.1, 0.2],
  right: [0.75, 0.12, 0.13],
  none: [0.2, 0.5, 0.3],
};

/** Small linear congruential generator: good enough for a demo, never used for noise. */
function seededChance(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = <T>(list: readonly T[], shares: readonly number[] = list.map(() => 1 / list.length)): T => {
    const at = next();
    let sum = 0;
    const found = shares.findIndex((share) => {
      sum += share;
      return at < sum;
    });
    return list[found] ?? list.at(-1)!;
  };
  return { next, pick };
}

export function demoSurvey(households = 4000): DemoSurvey {
  const { next, pick } = seededChance(20261115);
  const names = Object.keys(questions) as (keyof typeof questions)[];
  const lines = [`person,household,${names.join(',')},age,media`];
  const choose = () => pick(questions.party, Object.values(parties));
  let person = 0;
  for (let home = 1; home <= households; home++) {
    const members = 1 + Math.floor(next() * next() * 6);
    const leaning = choose();
    for (let m = 0; m < members; m++) {
      const party: Party = next() < 0.25 ? leaning : choose();
      const answers = names.map((q) => {
        if (next() < 0.02) return '';
        if (q === 'party') return party;
        if (q === 'trust') return pick(questions.trust, trusting[party]);
        if (q === 'vote') return pick(questions.vote, voting[party]);
        return pick(questions[q]);
      });
      const age = Math.round(18 + 70 * (0.5 * next() + 0.5 * next()));
      const media = ['tv', 'web', 'paper'].filter(() => next() < 0.45).join(';');
      lines.push(`p${++person},h${home},${answers.join(',')},${age},${media}`);
    }
  }
  return { csv: `${lines.join('\n')}\n`, people: person, households };
}
