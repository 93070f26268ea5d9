/** Dependencies of the billing operations. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { Database } from '../metadata/tables.ts';
import type { CountedSource, UsageReader } from './meter/read-usage.ts';
import type { PaymentProvider } from './payments/provider.ts';
import type { FindFragment } from './prices/fragment-tiers.ts';

export interface BillingOperationDeps extends UsageReader, ClockAndLog {
  readonly db: Database;
  readonly tree: Pick<AccountTree, 'organization' | 'organizations' | 'sharedWith'>;
  readonly access: Pick<Access, 'authorize' | 'allows'>;
  readonly counted: readonly CountedSource[];
  /** Whether an organization bills others. */
  readonly billsOthers: (organizationId: string) => Promise<boolean>;
  /** A fragment of this organization, by version ('': the newest); undefined: it does not have it. */
  readonly fragmentOf: (organizationId: string, ...asked: Parameters<FindFragment>) => ReturnType<FindFragment>;
  /** Resolves once all acknowledged uploads are counted. @throws unavailable */
  readonly metered: (signal: AbortSignal) => Promise<unknown>;
  readonly provider: PaymentProvider;
}
