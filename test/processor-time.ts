/** Processor time of this process so far, in milliseconds: other processes do not add to it. */
const used = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Processor time of a fixed calculation on this machine, the least of three. */
function unit(): number {
  const times = [0, 1, 2].map(() => {
    const from = used();
    let sum = 0;
    for (let k = 1; k < 10_000_000; k++) sum += Math.sqrt(k);
    if (sum < 0) throw new Error('square roots are not negative');
    return used() - from;
  });
  return Math.max(1, Math.min(...times));
}

/** Work measured as a multiple of a fixed calculation, almost independent of a slow or busy machine. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = unit();
  const from = used();
  await work();
  const took = used() - from;
  return took / Math.max(before, unit());
}
