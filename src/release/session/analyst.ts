import { userInfo } from 'node:os';

/** Who runs this process, as the operating system knows them: a name in the environment is only what somebody calls themselves. */
export function systemAnalyst(): string {
  try {
    return userInfo().username;
  } catch {
    // A user number without a name, as in many containers.
    return `uid:${process.geteuid?.() ?? 'unknown'}`;
  }
}
