import { type PrivacyCost, toStored } from '../../privacy/mechanism/privacy-cost.js';

export const sameCost = (a: PrivacyCost, b: PrivacyCost): boolean => JSON.stringify(toStored(a)) === JSON.stringify(toStored(b));
