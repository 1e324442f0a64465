/** Interview about a file, from the service: questions, answers, and the resulting policy. */
export interface InterviewItem {
  readonly id: string;
  readonly text: string;
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
  readonly several?: true;
  readonly usual?: string | readonly string[];
  readonly answer?: string | readonly string[];
  readonly needed?: true;
}
export interface PolicyDraft {
  readonly id: string;
  readonly file: string;
  readonly questions: readonly InterviewItem[];
  readonly columns: readonly { readonly name: string; readonly type: string; readonly [more: string]: unknown }[];
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  readonly doubts: readonly string[];
  readonly undecided: boolean;
  readonly hasBudget?: true;
  readonly policy: string;
}
export type InterviewAnswer = string | readonly string[];

export const currentAnswer = ({ answer, usual, several }: InterviewItem): InterviewAnswer =>
  answer ?? usual ?? (several ? [] : '');

/** Name of the policy, derived from the name of the file. */
export const nameFor = (file: string): string =>
  file
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 60) || 'survey';
