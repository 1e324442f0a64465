import * as z from 'zod';
import { readRequest } from '../request.js';

export const classifySchema = z.strictObject({
  label: z.string().min(1),
  positive: z.array(z.union([z.string(), z.number()]).transform(String)).min(1),
  features: z.array(z.string().min(1)).min(1).max(200),
  model: z.enum(['logistic', 'svm']).default('logistic'),
  method: z.enum(['auto', 'output', 'objective', 'sgd', 'tilt']).default('auto'),
  /** Strength of the quadratic penalty; a public choice, never searched on the data. */
  regularisation: z.number().min(1e-6).max(100).optional(),
  /** Width of the rounded corner of the Huber hinge. */
  huber: z.number().min(0.1).max(1).default(0.5),
  steps: z.number().int().min(1).max(1000).optional(),
  /** Number of features to keep, selected privately with this share of the budget for relevance to the label and low redundancy. */
  select: z.strictObject({ keep: z.number().int().min(1), share: z.number().min(0.01).max(0.9).default(0.2) }).optional(),
  /** Accepts a mechanism whose proof assumes exact arithmetic. */
  asPublished: z.boolean().default(false),
});
export type ClassifyRequest = z.infer<typeof classifySchema>;

export const parseClassify = (input: unknown): ClassifyRequest =>
  readRequest(classifySchema, input, '{"label": "income", "positive": [">50K"], "features": ["age", "education"]}');
