/** Who bills which organization, which neither of the two can decide alone; received payments; and the check of the ledger. */
import { invalidArgument } from '@platform/base';
import { checkAuditChain } from '../access/audit-chain.ts';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { checkLedger } from '../billing/ledger/check-ledger.ts';
import { recordPayment } from '../billing/payments/record-payment.ts';
import { accountAt, changeAccount } from '../billing/prices/accounts.ts';
import type { Operations } from './control-channel.ts';
import { requireOrganization } from './limits.ts';

export function billingOperations({ db, clock }: Pick<AccountsDeps, 'db' | 'clock'>): Operations {
  const show = async (organizationId: string) => {
    const account = await accountAt(db, organizationId, clock.now());
    return {
      organizationId,
      ...{ billerId: account?.billerId ?? null, tier: account?.tier ?? null, sinceMs: account?.sinceMs ?? null },
      billingEmail: account?.billingEmail ?? null,
    };
  };
  return {
    'billing.show': ({ text }) => show(text('organizationId')),
    'billing.assign': async ({ text, optionalText, actor }) => {
      const organizationId = text('organizationId');
      const billerId = optionalText('billerId') ?? null;
      await requireOrganization(db, organizationId);
      if (billerId !== null) await requireOrganization(db, billerId);
      if (billerId === organizationId)
        throw invalidArgument('biller: expected another organization, found the billed one');
      const tier = billerId === null ? '' : text('tier');
      const change = { billerId, tier, billingEmail: optionalText('email') ?? '' };
      await changeAccount(db, actor, 'admin.billing.assign', clock.now(), organizationId, change);
      return show(organizationId);
    },
    'payments.record': async ({ text, actor }) => {
      const payment = { invoiceId: text('invoiceId'), amount: text('amount'), reference: text('reference') };
      // No mail is sent: whoever records payments informs the payers in their own way.
      return await recordPayment({ db, clock, mails: undefined }, actor, payment);
    },
    'check-ledger': async () => {
      const [ledger, trail] = [await checkLedger(db), await checkAuditChain(db)];
      const problems = [...ledger.problems, ...trail.problems];
      return { ...ledger, auditEntries: trail.entries, auditHash: trail.hash, problems };
    },
  };
}
