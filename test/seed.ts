import fc from 'fast-check';

/** Property tests draw the same cases in every run; FUGU_SEED=12 draws others, and FUGU_SEED=random new ones each time. */
const { FUGU_SEED: wanted = '20261119' } = process.env;
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });
