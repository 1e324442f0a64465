import { writeFileSync } from 'node:fs';
import { type Figures, runTranscripts } from './climb.js';

// Every run uses the same data under budgets of its own.
process.env.FUGU_REGISTRY ??= 'off';

// npm run transcripts -- TRANSCRIPTS [SEED] [FILE] [WORLD]: hill-climbed transcripts on this machine; what breaks a promise goes to FILE, one line each.
const [wanted = '1000', seed = '1', file, first = '0'] = process.argv.slice(2);
const began = performance.now();
const line = ({ findings, done, ...figures }: Figures): string =>
  JSON.stringify({
    ...figures,
    findings: findings.length,
    minutes: Math.round((performance.now() - began) / 6000) / 10,
    outcomes: Object.fromEntries(done),
  });
const write = ({ findings }: Figures): void => {
  if (file !== undefined) writeFileSync(file, findings.map((each) => `${JSON.stringify(each)}\n`).join(''));
};
const figures = await runTranscripts({
  wanted: Number(wanted),
  seed: Number(seed),
  first: Number(first),
  progress: (so) => {
    process.stdout.write(`${line(so)}\n`);
    write(so);
  },
});
write(figures);
process.stdout.write(`${line(figures)}\n`);
process.exitCode = figures.findings.length > 0 ? 1 : 0;
