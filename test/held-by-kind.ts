/** Coverage of confidence intervals by kind of answer, for long runs (FUGU_COVERAGE): a total would hide one bad kind. */
export function heldByKind() {
  const kinds = new Map<string, { held: number; answers: number }>();
  const add = (kind: string, held: boolean) => {
    const own = kinds.get(kind) ?? { held: 0, answers: 0 };
    kinds.set(kind, own);
    own.held += Number(held);
    own.answers++;
  };
  return {
    count: (kind: string, form: string, held: boolean) => {
      add(`${kind}, ${form}`, held);
      add(`all, ${form}`, held);
    },
    tell: (rows: number) => {
      for (const [kind, { held, answers }] of kinds)
        console.log(`${rows} rows, ${kind}: ${((100 * held) / answers).toFixed(1)} % of ${answers}`);
    },
  };
}
