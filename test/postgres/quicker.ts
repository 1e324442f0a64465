const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

/** True if `work` takes less than `times` as long as `peer` in one of some rounds: slow work is slow in all, a busy machine in some. */
export async function quickerThan(peer: () => Promise<unknown>, work: () => Promise<unknown>, times = 1): Promise<boolean> {
  for (let round = 0; round < 10; round++) {
    const most = times * (await timeOf(peer));
    if ((await timeOf(work)) < most) return true;
  }
  return false;
}
