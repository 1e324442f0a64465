/** Characters that a reason in the chain may have. */
export const mostReason = 1_000;
