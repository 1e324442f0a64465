/** Made-up people for `fugu demo`: households whose members resemble each other. A fixed generator, so that every run tells the same story. */
/**
 * Given the household's habits the members answer independently: the habit with 30 %, else anything. So a household is a hidden type, and with five
 * values to choose from the odds ratio between an answer and the type is (0.44/0.14)^2 < 10, which is what the demo declares.
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

/** A small linear congruential generator: good enough for a story, never used for noise. */
function storyteller(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return { next, pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]! };
}

export function demoSurvey(households = 4000): DemoSurvey {
  const { next, pick } = storyteller(20261115);
  const names = Object.keys(questions) as (keyof typeof questions)[];
  const lines = [`person,household,${names.join(',')},age,media`];
  let person = 0;
  for (let home = 1; home <= households; home++) {
    const members = 1 + Math.floor(next() * next() * 6);
    const habit = Object.fromEntries(names.map((q) => [q, pick(questions[q])]));
    for (let m = 0; m < members; m++) {
      const answers = names.map((q) => {
        const roll = next();
        if (roll < 0.02) return '';
        return roll < 0.32 ? habit[q]! : pick(questions[q]);
      });
      const age = Math.round(18 + 70 * (0.5 * next() + 0.5 * next()));
      const media = ['tv', 'web', 'paper'].filter(() => next() < 0.45).join(';');
      lines.push(`p${++person},h${home},${answers.join(',')},${age},${media}`);
    }
  }
  return { csv: `${lines.join('\n')}\n`, people: person, households };
}
