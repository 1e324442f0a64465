import * as z from 'zod';
import { kmeansSchema, planKmeans, releaseKmeans } from '../../../analysis/learn/kmeans/kmeans.js';
import { isNumber } from '../../../policy/domain.js';
import { defineKind } from '../kind.js';
import { field } from '../request.js';
import { askable } from './askable.js';

/** Centres of clusters of number columns. */
export const kmeans = defineKind({
  name: 'kmeans',
  question: z.strictObject({
    kmeans: field(kmeansSchema, 'Columns and number of clusters.', {
      value: 'json',
      help: 'cluster centres: {"columns": ["x", "y"], "clusters": 8}',
      reads: 'json',
    }),
  }),
  hint: 'Write {"columns": ["x", "y"], "clusters": 8}.',
  example(policy) {
    const numbers = askable(policy)
      .filter(isNumber)
      .map((c) => c.name);
    return numbers.length > 0 ? { kmeans: { columns: numbers.slice(0, 2), clusters: 2 } } : undefined;
  },
  plan: (session, { kmeans }, options) => planKmeans(session, kmeans, options),
  release: (session, { kmeans }, options) => releaseKmeans(session, kmeans, options),
});
