import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { onUnauthorized } from './api/client.ts';
import { signOut } from './api/session.ts';
import type { Policy, PolicyName, Session, Spending } from './api/shapes.ts';
import { useAnswer } from './api/use-answer.ts';
import { type PageName, pagesFor, pagesOf, pageWords } from './page-names.ts';
import { AskPage } from './pages/ask.tsx';
import { AttackPage } from './pages/attack.tsx';
import { BudgetPage } from './pages/budget.tsx';
import { HelpPage } from './pages/help.tsx';
import { LedgerPage } from './pages/ledger.tsx';
import { ReceiptsPage } from './pages/receipts.tsx';
import { StartPage } from './pages/start.tsx';
import { TiesPage } from './pages/ties.tsx';
import { TimePage } from './pages/time.tsx';
import { EmptyNotice, FaultNotice, Placeholder } from './parts/notices.tsx';
import { Page } from './parts/page.tsx';
import { Rail } from './rail.tsx';
import { linkTo, useLocation } from './router.ts';

/** Pages for signed-in users: navigation and the current page. */
export function Console({ session, onLeft }: { readonly session: Session; readonly onLeft: (ended: boolean) => void }) {
  const place = useLocation();
  const [listed, listAgain] = useAnswer<{ readonly policies: readonly PolicyName[] }>('/v1/policies');
  const policies = listed.state === 'done' ? listed.value.policies : [];
  const name = policies.some((p) => p.name === place.policy) ? place.policy : policies[0]?.name;
  const path = name === undefined ? undefined : `/v1/policies/${encodeURIComponent(name)}`;
  const [policy, policyAgain] = useAnswer<Policy>(path);
  const [spending, spentAgain] = useAnswer<Spending>(path && `${path}/budget`);
  useEffect(() => onUnauthorized(() => onLeft(true)), [onLeft]);
  const leave = () => void signOut().finally(() => onLeft(false));
  const pages = pagesOf(
    session.role,
    policies.find((p) => p.name === name),
  );
  const wanted = place.policy === 'start' && place.page === '' ? 'start' : place.page || pages[0]!;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        To the content
      </button>
      <div class="shell">
        <Rail
          session={session}
          policies={policies}
          policy={name ?? ''}
          page={wanted}
          pages={listed.state === 'loading' ? [] : pages}
          budget={spending.state === 'done' ? spending.value.budget : undefined}
          onChoose={(chosen) => {
            location.hash = linkTo(chosen, wanted === 'start' ? 'ask' : wanted);
          }}
          onLeave={leave}
        />
        <main class="main" id="content" tabIndex={-1}>
          {wanted === 'start' ? (
            <Shown page="start" role={session.role}>
              <StartPage onServed={listAgain} />
            </Shown>
          ) : wanted === 'help' ? (
            <HelpPage policy={name ?? ''} more={place.more} />
          ) : listed.state === 'fault' ? (
            <FaultNotice problem={listed.problem} again={listAgain} />
          ) : listed.state === 'done' && name === undefined ? (
            <EmptyNotice title="No policies">
              <p>Your token opens none. Ask a steward for one that does.</p>
            </EmptyNotice>
          ) : policy.state === 'fault' ? (
            <FaultNotice problem={policy.problem} again={policyAgain} />
          ) : spending.state === 'fault' ? (
            <FaultNotice problem={spending.problem} again={spentAgain} />
          ) : policy.state === 'loading' || spending.state === 'loading' ? (
            <Placeholder height={520} />
          ) : (
            <Shown page={wanted} role={session.role}>
              <Inside
                key={`${name}/${wanted}`}
                page={wanted as PageName}
                more={place.more}
                policy={policy.value}
                spending={spending.value}
                session={session}
                onSpent={spentAgain}
              />
            </Shown>
          )}
        </main>
      </div>
    </>
  );
}

/** Pages that are not for a role say so; the service refuses them, too. */
function Shown({
  page,
  role,
  children,
}: {
  readonly page: string;
  readonly role: Session['role'];
  readonly children: ComponentChildren;
}) {
  const pages: readonly string[] = pagesFor(role);
  if (pages.includes(page)) return <>{children}</>;
  if (!(page in pageWords))
    return (
      <Page title="Nothing here" lead="There is no such page.">
        <div class="panel">
          <EmptyNotice title="Lost?">
            <p>Choose a page on the rail.</p>
          </EmptyNotice>
        </div>
      </Page>
    );
  return (
    <Page title="Not for you" lead={`This page is not for the role ${role}.`}>
      <div class="panel">
        <EmptyNotice icon="attack" title="A steward may see this">
          <p>What it shows is as private as the rows, or changes what others may ask. Ask a steward of this service.</p>
        </EmptyNotice>
      </div>
    </Page>
  );
}

interface InsideProps {
  readonly page: PageName;
  readonly more: string;
  readonly policy: Policy;
  readonly spending: Spending;
  readonly session: Session;
  readonly onSpent: () => void;
}

function Inside({ page, more, policy, spending, session, onSpent }: InsideProps) {
  if (page === 'ask') return <AskPage policy={policy} budget={spending.budget} onSpent={onSpent} />;
  if (page === 'budget') return <BudgetPage policy={policy} spending={spending} />;
  if (page === 'ties') return <TiesPage policy={policy} role={session.role} />;
  if (page === 'time') return <TimePage policy={policy} />;
  if (page === 'ledger') return <LedgerPage policy={policy} spending={spending} role={session.role} />;
  if (page === 'attack') return <AttackPage policy={policy} />;
  return <ReceiptsPage policy={policy} entry={more} role={session.role} />;
}
