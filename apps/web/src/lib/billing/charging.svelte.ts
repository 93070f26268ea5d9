/**
 * A charge from its confirmation to its outcome. States: none → waiting → none (paid) | refused | unknown; refused and unknown → waiting (asked
 * again). A charge that is waiting or unknown is kept in the tab, so that neither a reload nor a lost answer causes a second charge: the
 * request is repeated with the same key, and the cloud charges each key once. It remembers keys for 24 hours; a charge that is nearly as old is
 * not requested again.
 */
import type { JsonValue } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { onDestroy } from 'svelte';
import { clientOf } from '../api/clients.ts';
import { objectOf } from '../api/object-of.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { keep, readKept } from '../ui/kept.ts';
import { exactMs, now } from '../ui/now.svelte.ts';
import { toast } from '../ui/toasts.svelte.ts';
import { money } from './money.ts';

export interface Charge {
  /** The cloud charges it once. */
  readonly key: string;
  /** When it was confirmed, ms. */
  readonly atMs: number;
  readonly amount: number;
  /** As it was shown; empty: unknown. */
  readonly currency: string;
  readonly description: string;
  readonly withMail: boolean;
}

export interface Charging {
  /** The charge that is waiting, or whose outcome is unknown. */
  readonly charge: Charge | undefined;
  readonly isWaiting: boolean;
  /** Seconds until the cloud stops waiting for the confirmation. */
  readonly leftS: number;
  /** Why the newest attempt failed. */
  readonly problem: Problem | undefined;
  /** Charges, or asks again about the charge with this key. Does nothing while a charge is waiting. */
  start(charge: Charge): Promise<void>;
  /** Stops following a charge whose outcome is unknown. */
  forget(): void;
}

/** The cloud waits this long for the confirmation of a payment, and answers a little later. */
const confirmedWithinS = 120;
const answerMs = (confirmedWithinS + 5) * 1_000;
/** An hour less than the cloud remembers a key, for clocks that differ. */
const keyForMs = 23 * 3_600_000;
/** The cloud has decided, and nothing is pending. */
const refusals: ReadonlySet<Code> = new Set([
  ...[Code.InvalidArgument, Code.FailedPrecondition, Code.PermissionDenied, Code.NotFound],
  ...[Code.Unauthenticated, Code.ResourceExhausted, Code.Unimplemented],
]);
const billing = clientOf(BillingService);

/** Call it while a component is being created. A charge that was waiting before a reload is requested again. */
export function createCharging(organizationId: string, onended: () => void): Charging {
  const place = `platform.charge.${organizationId}`;
  let charge = $state.raw<Charge>();
  let isWaiting = $state(false);
  let untilMs = $state(0);
  let problem = $state.raw<Problem>();
  let isShown = true;
  onDestroy(() => {
    isShown = false;
  });

  async function start(next: Charge): Promise<void> {
    if (isWaiting) return;
    if (exactMs() > next.atMs + keyForMs) {
      forget();
      toast(
        `The charge of ${money(next.amount, next.currency)} is too old to ask about it. The list shows its invoice.`,
        'problem',
      );
      return;
    }
    [charge, isWaiting, untilMs, problem] = [next, true, now.ms + confirmedWithinS * 1_000, undefined];
    keep(place, next);
    const { key, amount, currency, description, withMail } = next;
    try {
      await billing.createInvoiceAndChargeImmediately(
        { orgIdToCharge: organizationId, amount, description, disableEmail: !withMail },
        { timeoutMs: answerMs, headers: { 'idempotency-key': key } },
      );
      forget();
      toast(`${money(amount, currency)} is paid. The invoice is in the list.`);
    } catch (caught) {
      if (refusals.has(ConnectError.from(caught).code)) forget();
      problem = chargeProblemOf(caught);
      if (!isShown) toast(`${problem.title}. ${problem.detail}`, 'problem');
    } finally {
      isWaiting = false;
      onended();
    }
  }
  function forget(): void {
    [charge, problem] = [undefined, undefined];
    keep(place, undefined);
  }
  const before = chargeOf(readKept(place));
  if (before !== undefined) void start(before);
  return {
    get charge() {
      return charge;
    },
    get isWaiting() {
      return isWaiting;
    },
    get leftS() {
      return Math.max(0, Math.round((untilMs - now.ms) / 1_000));
    },
    get problem() {
      return problem;
    },
    ...{ start, forget },
  };
}

/** After any error but a refusal, it is unknown whether money moves. */
function chargeProblemOf(caught: unknown): Problem {
  const problem = problemOf(caught);
  const { code } = ConnectError.from(caught);
  if (refusals.has(code)) return problem;
  const title = code === Code.DeadlineExceeded ? 'Not confirmed within two minutes' : 'The outcome is not known yet';
  const advice =
    'The payment may still be confirmed; the list then shows its invoice as paid. Ask again to keep waiting: no charge is made twice.';
  return { ...problem, title, detail: `${problem.title}: ${problem.detail}`, advice };
}

/** Undefined: none is kept. */
function chargeOf(kept: JsonValue | undefined): Charge | undefined {
  const { key, atMs, amount, currency, description, withMail } = objectOf(kept);
  return typeof key === 'string' &&
    typeof atMs === 'number' &&
    typeof amount === 'number' &&
    typeof currency === 'string' &&
    typeof description === 'string' &&
    typeof withMail === 'boolean'
    ? { key, atMs, amount, currency, description, withMail }
    : undefined;
}
