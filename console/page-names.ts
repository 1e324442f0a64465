import type { PolicyName, Role } from './api/shapes.ts';

export type PageName = 'ask' | 'budget' | 'ties' | 'time' | 'ledger' | 'receipts' | 'attack' | 'start' | 'help';

export const pageWords: Readonly<Record<PageName, string>> = {
  ask: 'Ask',
  budget: 'Budget',
  ties: 'Ties',
  time: 'Time',
  ledger: 'Ledger',
  receipts: 'Receipts',
  attack: 'Attack',
  start: 'Start',
  help: 'Help',
};

const byRole: Readonly<Record<Role, readonly PageName[]>> = {
  steward: ['ask', 'budget', 'ties', 'time', 'ledger', 'receipts', 'attack', 'start', 'help'],
  analyst: ['ask', 'budget', 'time', 'ledger', 'receipts', 'help'],
  auditor: ['budget', 'ties', 'time', 'ledger', 'receipts', 'help'],
};

/** Every page that is for a role. */
export const pagesFor = (role: Role): readonly PageName[] => byRole[role];
/** Those on the rail: without steps there is no page about time. */
export const pagesOf = (role: Role, policy: PolicyName | undefined): readonly PageName[] =>
  byRole[role].filter((page) => page !== 'time' || policy?.steps === true);
