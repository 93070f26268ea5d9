/** The sender address of e-mails to an organization's customers. */
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import { checkedEmail } from '../../text-rules/checked-email.ts';
import type { AccountsDeps } from '../accounts-deps.ts';

/** The caller must own the organization. An empty address removes it. @throws invalid_argument */
export async function setSupportEmail(
  { tree, clock }: Pick<AccountsDeps, 'tree' | 'clock'>,
  by: Caller,
  organizationId: string,
  email: string,
): Promise<void> {
  const checked = email.trim() === '' ? '' : checkedEmail(email);
  await tree.change(async (trx, changed) => {
    const row = await trx
      .updateTable('organizations')
      .set({ support_email: checked })
      .where('id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow(() => notVisible('organization', organizationId));
    const detail = { email: checked };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.OrganizationSetSupportEmail', target, detail);
    changed.organization(row);
  });
}
