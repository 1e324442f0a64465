import type { Column, Policy } from '../api/shapes.ts';
import { Choice, Text, Tick } from '../parts/field.tsx';
import { formatDay } from '../parts/figures.ts';
import {
  columnsFor,
  type FormKind,
  firstValue,
  formKinds,
  isKey,
  kindsFor,
  patterns,
  type QuestionDraft,
  withKind,
} from './question.ts';
import { isSeveral, type SeveralKind, severalFor, severalKinds, severalOf } from './several.ts';

const named = ({ name, label }: Column) => ({ value: name, label: label && label !== name ? `${name}: ${label}` : name });

/** Query builder over the declared columns, for people who know no query language. */
export function Builder({
  policy,
  draft,
  onDraft,
}: {
  readonly policy: Policy;
  readonly draft: QuestionDraft;
  readonly onDraft: (draft: QuestionDraft) => void;
}) {
  const { kind, column, second, by } = draft;
  const able = columnsFor(policy, kind);
  const keys = policy.columns.filter((c) => isKey(c) && c.name !== column);
  const set = (change: Partial<QuestionDraft>) => onDraft({ ...draft, ...change });
  return (
    <div class="stack">
      <Choice<FormKind>
        label="What to ask"
        hint={formKinds[kind].hint}
        value={kind}
        options={kindsFor(policy).map((k) => ({ value: k, label: formKinds[k].label }))}
        onChoose={(k) => onDraft(withKind(policy, draft, k))}
      />
      <div class="pair">
        {able.length > 0 && (
          <Choice
            label={kind === 'crosstab' ? 'First question' : 'About'}
            value={column}
            options={able.map(named)}
            onChoose={(name) =>
              set({
                column: name,
                ...((kind === 'share' || kind === 'classify') && { values: firstValue(policy, name) }),
                ...(kind === 'classify' && severalFor(policy, kind, name)),
              })
            }
          />
        )}
        {kind === 'crosstab' && (
          <Choice
            label="Second question"
            value={second}
            options={able.filter((c) => c.name !== column).map(named)}
            onChoose={(name) => set({ second: name })}
          />
        )}
        {formKinds[kind].groups && keys.length > 0 && (
          <Choice
            label="For each"
            value={by}
            options={[{ value: '', label: 'no groups' }, ...keys.map(named)]}
            onChoose={(name) => set({ by: name })}
          />
        )}
      </div>
      {(kind === 'share' || kind === 'classify') && (
        <Values
          label="Which answers"
          column={able.find((c) => c.name === column)}
          chosen={draft.values}
          onChoose={(values) => set({ values })}
        />
      )}
      {kind === 'pattern' && (
        <div class="pair">
          <Choice
            label="Pattern"
            value={draft.pattern}
            options={Object.entries(patterns).map(([value, label]) => ({ value, label }))}
            onChoose={(pattern) => set({ pattern })}
          />
          <Choice
            label="Relation"
            value={draft.relation}
            options={(policy.relations ?? []).map(({ name }) => ({ value: name, label: name }))}
            onChoose={(relation) => set({ relation })}
          />
        </div>
      )}
      {isSeveral(kind) && <SeveralColumns policy={policy} kind={kind} draft={draft} set={set} />}
      {formKinds[kind].where !== false && <Where policy={policy} draft={draft} set={set} />}
    </div>
  );
}

function SeveralColumns({
  policy,
  kind,
  draft,
  set,
}: {
  readonly policy: Policy;
  readonly kind: SeveralKind;
  readonly draft: QuestionDraft;
  readonly set: (change: Partial<QuestionDraft>) => void;
}) {
  const { many } = severalKinds[kind];
  const { several } = draft;
  return (
    <>
      <fieldset class="tight">
        <legend class="label">{kind === 'classify' ? 'Told apart by' : 'Columns'}</legend>
        <div class="ticks">
          {severalOf(policy, kind, draft.column).map((c) => (
            <Tick
              key={c.name}
              label={named(c).label}
              checked={several.includes(c.name)}
              onTick={(on) => set({ several: on ? [...several, c.name] : several.filter((name) => name !== c.name) })}
            />
          ))}
        </div>
      </fieldset>
      {many && (
        <Text
          label={many.label}
          type="number"
          min={many.least}
          max={many.most}
          value={draft.many}
          onWrite={(text) => set({ many: text })}
        />
      )}
    </>
  );
}

function Where({
  policy,
  draft,
  set,
}: {
  readonly policy: Policy;
  readonly draft: QuestionDraft;
  readonly set: (change: Partial<QuestionDraft>) => void;
}) {
  const column = policy.columns.find((c) => c.name === draft.where);
  const able = policy.columns.filter((c) => c.type !== 'weight' && c.type !== 'multi');
  return (
    <div class="stack">
      <Choice
        label="Only rows where"
        value={draft.where}
        options={[{ value: '', label: 'all rows' }, ...able.map(named)]}
        onChoose={(where) => set({ where, whereValues: firstValue(policy, where), from: '', to: '' })}
      />
      {column?.values && (
        <Values
          label={`${column.name} is one of`}
          column={column}
          chosen={draft.whereValues}
          onChoose={(whereValues) => set({ whereValues })}
        />
      )}
      {column && !column.values && (
        <div class="pair">
          <Text
            label={`${column.name} from`}
            type={column.date ? 'date' : 'number'}
            value={draft.from}
            onWrite={(from) => set({ from })}
            {...reach(column)}
            placeholder={`${column.bounds?.[0] ?? ''}`}
          />
          <Text
            label="up to"
            type={column.date ? 'date' : 'number'}
            value={draft.to}
            onWrite={(to) => set({ to })}
            {...reach(column)}
            placeholder={`${column.bounds?.[1] ?? ''}`}
          />
        </div>
      )}
    </div>
  );
}

/** First and last day that may be chosen. */
const reach = ({ date, bounds }: Column) => (date && bounds ? { min: formatDay(bounds[0]), max: formatDay(bounds[1]) } : {});

const Values = ({
  label,
  column,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly column: Column | undefined;
  readonly chosen: readonly string[];
  readonly onChoose: (values: readonly string[]) => void;
}) => (
  <fieldset class="tight">
    <legend class="label">{label}</legend>
    <div class="ticks">
      {column?.values?.map(({ value, label: words }) => (
        <Tick
          key={value}
          label={words && words !== value ? `${value}: ${words}` : value}
          checked={chosen.includes(value)}
          onTick={(on) => onChoose(on ? [...chosen, value] : chosen.filter((v) => v !== value))}
        />
      ))}
    </div>
  </fieldset>
);
