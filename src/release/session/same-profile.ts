import { type Profile, toStored } from '../../privacy/mechanism/profile.js';

export const sameProfile = (a: Profile, b: Profile): boolean => JSON.stringify(toStored(a)) === JSON.stringify(toStored(b));
