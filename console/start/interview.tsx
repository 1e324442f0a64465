import { useId, useState } from 'preact/hooks';
import { Text, Tick } from '../parts/field.tsx';
import { currentAnswer, type InterviewAnswer, type InterviewItem } from './draft.ts';

/** Short titles for the service's questions. */
const titles: Readonly<Record<string, string>> = {
  columns: 'Columns',
  person: 'Whose rows',
  maxRows: 'Rows of one person',
  dependence: 'Ties',
  oddsRatio: 'How strong the tie is',
  budget: 'How much may be learned',
  missing: 'No answer',
  weights: 'Weights',
};

/** One question of the interview: choices where there are some, otherwise a field. */
export function InterviewField({
  question,
  onAnswer,
}: {
  readonly question: InterviewItem;
  readonly onAnswer: (answer: InterviewAnswer) => void;
}) {
  const { id, text, choices, several, needed } = question;
  const answer = currentAnswer(question);
  return (
    <fieldset class="panel">
      <legend class="unseen">{titles[id] ?? id}</legend>
      <div class="panel-head">
        <h2>{titles[id] ?? id}</h2>
        {needed && question.answer === undefined && <span class="badge warn">to be answered</span>}
      </div>
      <p>{text}</p>
      {choices && several && (
        <div class={choices.length > 14 ? 'scroll tall tight' : 'tight'}>
          {choices.map((c) => (
            <Tick
              key={c.value}
              label={c.text === c.value ? c.value : `${c.value} (${c.text})`}
              checked={answer.includes(c.value)}
              onTick={(on) =>
                onAnswer(
                  on ? [...(answer as readonly string[]), c.value] : (answer as readonly string[]).filter((v) => v !== c.value),
                )
              }
            />
          ))}
        </div>
      )}
      {choices && !several && id === 'budget' && <BudgetField choices={choices} answer={answer as string} onAnswer={onAnswer} />}
      {choices && !several && id !== 'budget' && <SingleChoice choices={choices} answer={answer as string} onAnswer={onAnswer} />}
      {!choices && id === 'oddsRatio' && <StrengthField answer={answer as string} onAnswer={onAnswer} />}
      {!choices && id !== 'oddsRatio' && <Text label="Answer" value={answer as string} onWrite={onAnswer} />}
    </fieldset>
  );
}

interface Choosing {
  readonly choices: NonNullable<InterviewItem['choices']>;
  readonly answer: string;
  readonly onAnswer: (answer: string) => void;
}

/** The first few choices as buttons, the others in a list. */
function SingleChoice({ choices, answer, onAnswer }: Choosing) {
  const id = useId();
  const shown = choices.filter((c) => c.text !== 'another column');
  const others = choices.filter((c) => c.text === 'another column');
  return (
    <div class="tight">
      {shown.map((c) => (
        <label class="tick" key={c.value}>
          <input type="radio" name={id} checked={answer === c.value} onChange={() => onAnswer(c.value)} />
          <span>
            <strong>{c.value}</strong> <span class="soft">{c.text}</span>
          </span>
        </label>
      ))}
      {others.length > 0 && (
        <div class="field">
          <label for={`${id}-other`}>Another column</label>
          <select
            id={`${id}-other`}
            value={others.some((c) => c.value === answer) ? answer : ''}
            onChange={(e) => e.currentTarget.value !== '' && onAnswer(e.currentTarget.value)}
          >
            <option value="">choose …</option>
            {others.map((c) => (
              <option key={c.value} value={c.value}>
                {c.value}
              </option>
            ))}
          </select>
        </div>
      )}
    </div>
  );
}

const limitForm = /^(epsilon \d+(\.\d+)?|belief 0?\.\d+ 0?\.\d+)$/;

/** The usual limits as buttons, and any belief. */
function BudgetField({ choices, answer, onAnswer }: Choosing) {
  const [text, setText] = useState(answer);
  const say = (words: string) => {
    setText(words);
    // Incomplete input is not sent as an answer.
    if (limitForm.test(words)) onAnswer(words);
  };
  return (
    <div class="stack">
      <SingleChoice choices={choices} answer={answer} onAnswer={say} />
      <Text
        label="Or another"
        hint="epsilon 1.5, or belief 0.1 0.3: what was 10 % likely becomes at most 30 %."
        value={text}
        onWrite={say}
      />
    </div>
  );
}

const strengths = [
  { value: '4', text: 'two in three agree' },
  { value: '9', text: 'three in four agree' },
  { value: '81', text: 'nine in ten agree' },
  { value: 'inf', text: 'as if all gave the same answers: safe for every question' },
] as const;

function StrengthField({ answer, onAnswer }: { readonly answer: string; readonly onAnswer: (answer: string) => void }) {
  const id = useId();
  return (
    <div class="stack">
      <div class="tight">
        {strengths.map(({ value, text }) => (
          <label class="tick" key={value}>
            <input type="radio" name={id} checked={answer === value} onChange={() => onAnswer(value)} />
            <span>
              <strong class="number">{value}</strong> <span class="soft">{text}</span>
            </span>
          </label>
        ))}
      </div>
      <Text label="Or another odds ratio" value={answer} onWrite={onAnswer} />
    </div>
  );
}
