import { ladderMechanism } from '../../../privacy/mechanism/ladder-mechanism.js';
import { maxPerPerson } from '../per-person.js';
import type { PatternAnalysis } from '../query/analyse.js';
import { type SensitivityLadder, truncationLadder } from '../query/ladders.js';
import { domainSize } from '../query/lambda.js';
import { truncatedCount } from '../truncated.js';
import { ladderFigures } from './noise-figures.js';
import { offer, type PatternStrategy } from './strategy.js';

/** People with more ties than a public number are left out; the ladder is that of all ties of one person (per-person.proof.md). */
export const truncatedNoise: PatternStrategy<'truncation-ladder'> = ({
  analysis: a,
  hidden: { classes },
  budgetShare,
  degree,
}) => {
  const noise = ladderMechanism({ name: a.title, classes }, budgetShare);
  const note = `people with more than ${degree} ties are left out; if few are near that number`;
  return [
    offer(
      { mechanism: 'truncation-ladder', ...ladderFigures(noise.distribution, imagined(a, degree)), note },
      {
        mechanisms: [noise],
        answer: async (payment, engine) => {
          const { count, ladder: rungs } = (await truncatedCount(engine, a, degree)).open();
          return noise.addNoise(payment, count, rungs);
        },
      },
    ),
  ];
};

/** Ladder assumed before reading the data: nobody near the threshold. */
const imagined = (a: PatternAnalysis, degree: number): SensitivityLadder =>
  truncationLadder(maxPerPerson(a, degree), () => 0, domainSize(a.pattern));
