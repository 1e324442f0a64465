import { userInfo } from '../../base/platform/host.js';

/** User of this process, as known to the operating system: a name in the environment is only a claim. */
export function systemAnalyst(): string {
  try {
    return userInfo().username;
  } catch {
    // A user number without a name, as in many containers.
    return `uid:${process.geteuid?.() ?? 'unknown'}`;
  }
}
