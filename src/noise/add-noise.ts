/** Each exact integer plus its own draw. The sum of integers is exact, so nothing of the value survives beyond the law. */
export const addNoise = (values: readonly bigint[], sampler: () => bigint): bigint[] => values.map((v) => v + sampler());
