import { expect } from 'vitest';
import { Fault } from '../src/base/errors.js';

/** The fault that a promise ends in; nothing else will do. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('no fault');
}
