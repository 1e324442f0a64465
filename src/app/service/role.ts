import * as z from 'zod';

/** What somebody may do: look after policies, ask within a quota, or look at what was done. */
const roles = ['steward', 'analyst', 'auditor'] as const;
export const role = z.enum(roles);
export type Role = z.output<typeof role>;
export const everybody: readonly Role[] = roles;
