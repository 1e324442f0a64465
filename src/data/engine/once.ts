/**
 * Value computed once and stored under its name. A failed computation is repeated, also by
 * callers that waited for it: the first caller may have been closed or may have had less time.
 */
export function once<Kept extends object, Name extends keyof Kept>(
  kept: Kept,
  name: Name,
  work: () => Promise<Awaited<NonNullable<Kept[Name]>>>,
): Promise<Awaited<NonNullable<Kept[Name]>>> {
  const held = kept as { [key in Name]?: Promise<Awaited<NonNullable<Kept[Name]>>> };
  const known = held[name];
  if (known) return known.catch(() => once(kept, name, work));
  const found = work().catch((error: unknown) => {
    delete held[name];
    throw error;
  });
  held[name] = found;
  return found;
}

/** Runs works one after the other, whether or not they succeed. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
