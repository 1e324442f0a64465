import type { FaultPlace } from '../errors.js';
import { exceeded, limits } from './limits.js';

/** Parses untrusted JSON; refuses nesting deeper than recursive code can follow. Syntax errors are left to the caller. */
export function parseJson(text: string, place?: FaultPlace): unknown {
  const depth = depthOf(text);
  if (depth > limits.jsonDepth.most) throw exceeded('jsonDepth', depth, place);
  return JSON.parse(text);
}

/** Largest number of open brackets, strings excluded. */
function depthOf(text: string): number {
  let open = 0;
  let most = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = endOfText(text, i);
    else if (c === 0x5b || c === 0x7b) most = Math.max(most, ++open);
    else if (c === 0x5d || c === 0x7d) open--;
  }
  return most;
}

function endOfText(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1;
  return i;
}
