import * as z from 'zod';
import { planClassify, releaseClassify } from '../../../analysis/learn/classify/classify.js';
import { classifySchema } from '../../../analysis/learn/classify/request.js';
import { defineKind } from '../kind.js';
import { field } from '../request.js';
import { askable } from './askable.js';

/** A linear classifier: a category column from others. */
export const classify = defineKind({
  name: 'classify',
  question: z.strictObject({
    classify: field(classifySchema, 'Label and features.', {
      value: 'json',
      help: 'a linear classifier: {"label": "income", "positive": [">50K"], "features": ["age", "education"]}',
      reads: 'json',
    }),
  }),
  hint: 'Write {"label": "income", "positive": [">50K"], "features": ["age", "education"]}.',
  example(policy) {
    const questions = askable(policy).filter((c) => c.type !== 'multi');
    const label = questions.find((c) => c.type === 'category' && c.values.length > 1);
    const feature = questions.find((c) => c !== label);
    if (label?.type !== 'category' || !feature) return undefined;
    return { classify: { label: label.name, positive: [label.values[0]!], features: [feature.name] } };
  },
  plan: (session, { classify }, options) => planClassify(session, classify, options),
  release: (session, { classify }, options) => releaseClassify(session, classify, options),
});
