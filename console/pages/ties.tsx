import type { Policy } from '../api/shapes.ts';
export const Ties = (_: { policy: Policy; role?: string }) => null;
