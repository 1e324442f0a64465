import { ladder } from '../../../privacy/mechanism/ladder.js';
import { perPerson } from '../per-person.js';
import type { PatternAnalysis } from '../query/analyse.js';
import { type Ladder, truncationLadder } from '../query/ladders.js';
import { domainSize } from '../query/lambda.js';
import { truncated } from '../truncated.js';
import { expectedOfLadder } from './expected.js';
import { offer, type Way } from './way.js';

/** People with more ties than a public number are left out; the ladder is that of all ties of one person (per-person.proof.md). */
export const truncation: Way<'truncation-ladder'> = ({ analysis: a, hidden: { classes }, allotment, degree }) => {
  const noise = ladder({ name: a.title, classes }, allotment);
  const note = `people with more than ${degree} ties are left out; if few are near that number`;
  return [
    offer(
      { mechanism: 'truncation-ladder', ...expectedOfLadder(noise.law, imagined(a, degree)), note },
      {
        mechanisms: [noise],
        answer: async (paid, engine) => {
          const { count, ladder: rungs } = (await truncated(engine, a, degree)).open();
          return noise.climb(paid, count, rungs);
        },
      },
    ),
  ];
};

/** Ladder assumed before reading the data: nobody near the threshold. */
const imagined = (a: PatternAnalysis, degree: number): Ladder =>
  truncationLadder(perPerson(a, degree), () => 0, domainSize(a.pattern));
