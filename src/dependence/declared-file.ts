import { readFileSync } from 'node:fs';
import { Fault } from '../errors.js';

/** A file the policy names beside its ties: a network, transitions, a precision matrix, a model. */
export function readDeclared(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault(
      'DATA_NOT_FOUND',
      'A model file named in the policy cannot be read.',
      'Paths are taken relative to the policy file.',
      { place: { file } },
    );
  }
}

export function readDeclaredJson(file: string): unknown {
  try {
    return JSON.parse(readDeclared(file));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('MODEL_INVALID', 'A model file named in the policy is not valid JSON.', 'Check it with any JSON tool.', {
      place: { file },
    });
  }
}
