// A private release from a program. Run it after ./fugu has built the package: node examples/library.mjs [policy.yaml]
import { Fault, open } from 'fugu';

const fugu = await open(process.argv[2] ?? new URL('household-survey/policy.yaml', import.meta.url), { analyst: 'example' });
try {
  const question = { kind: 'mean', column: 'age', by: ['vote'] };

  // A plan costs nothing and reads no answer.
  const plan = await fugu.plan(question, { epsilon: 0.5 });
  console.log(`${plan.mechanism} noise; spent so far ${plan.budget.spent.toFixed(2)} of ${plan.budget.total.toFixed(2)}`);

  // A release reserves its cost before the data is read; the same request again gets the recorded answer, free.
  const { tables, receipt } = await fugu.release(question, { epsilon: 0.5 });
  for (const { keys, value, low, high } of tables[0].rows) console.log(keys.join(' '), value, `(${low} to ${high})`);
  console.log(receipt.guarantee.sentences[0]);

  // Every failure is a Fault: a code for programs, a sentence and a hint for people.
  await fugu.release({ kind: 'mean', column: 'shoe_size' }).catch((error) => {
    if (!(error instanceof Fault)) throw error;
    console.log(`${error.code}: ${error.message} ${error.hint}`);
  });
} finally {
  await fugu.close();
}
