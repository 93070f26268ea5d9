/** Every version of the metadata's tables, collected from the features that own them; a released version never changes. */
import { accessChecked, accessV1, accessV2, accessV32, auditChainGuard, auditGuard } from '../access/store.ts';
import {
  accountsChecked,
  accountsDdl,
  accountsV2,
  accountsV16,
  accountsV18,
  billingServices,
} from '../accounts/store.ts';
import { adminV2 } from '../admin/store.ts';
import {
  billingChecked,
  billingV23,
  chargeRequests,
  chargeRequestsV39,
  dunningV30,
  dunningV34,
  invoiceGuard,
  invoicePdfs,
  invoicesV24,
  invoicesV27,
  paymentsV28,
  usageHours,
  usageHoursV31,
} from '../billing/store.ts';
import {
  binaryChecked,
  binaryV3,
  binaryV5,
  binaryV40,
  binaryV43,
  binaryV45,
  files,
  labelsChecked,
  retentionDays,
} from '../binary/store.ts';
import { logCursorsV8 } from '../follow-log/store.ts';
import { fragmentsChecked, fragmentsV2 } from '../fragments/store.ts';
import { gapsV13, gapsV19 } from '../gaps/store.ts';
import { identityChecked, identityV1, identityV2 } from '../identity/store.ts';
import { instanceDdl, instanceV2 } from '../instance/store.ts';
import { logsV1, logsV2, logsV17, logsV23, logUsage } from '../machines/logs/store.ts';
import { presenceV2, presenceV22, presenceV42 } from '../machines/presence/store.ts';
import { machinesChecked, machinesDdl, machinesV2, machinesV11, machinesV20, machinesV33 } from '../machines/store.ts';
import {
  notificationUsage,
  outboxV1,
  outboxV2,
  outboxV9,
  outboxV12,
  outboxV14,
  outboxV21,
  outboxV25,
  outboxV29,
  outboxV41,
} from '../outbox/store.ts';
import { packagesChecked, packagesV10, packagesV11 } from '../packages/store.ts';
import { queriesV3 } from '../queries/store.ts';
import { retentionChecked, retentionV3 } from '../retention/store.ts';
import { queryUsage, tabularDdl, tabularV4, tabularV7, tabularV37 } from '../tabular/store.ts';
import { triggersDdl, triggersV15, triggersV26 } from '../triggers/store.ts';
import { addRowCheck, rowChecksDdl } from './row-checks/row-check-sql.ts';
import type { Migration } from './sqlite/writer-protocol.ts';

/** Version 1 had one organization and one person, who owned it without a grant. */
export const firstOwner =
  "insert into grants (identity_id, identity_type, role, organization_id, location_id, robot_id) select people.id, 'person', 'owner', organizations.id, null, null from people cross join organizations";

/** Version 39 did not say whose lists the retention of a part affects. */
const retentionOwners =
  "update data_retention_days set organization_id = coalesce((select data_policies.organization_id from data_policies where data_policies.part_id = data_retention_days.part_id), '')";

const checkedV36 = [...accessChecked, ...accountsChecked, ...identityChecked, ...packagesChecked, ...billingChecked];
const checkedV38 = [...machinesChecked, usageHours];
const checkedV40 = [...retentionChecked, retentionDays, ...fragmentsChecked];
const checkedV43 = [...labelsChecked, invoicePdfs, billingServices];
const checkedV44 = [logUsage, notificationUsage, queryUsage];

export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      ...accountsDdl,
      ...accessV1,
      ...identityV1,
      ...instanceDdl,
      ...machinesDdl,
      ...logsV1,
      ...outboxV1,
      ...tabularDdl,
      ...triggersDdl,
    ],
  },
  {
    version: 2,
    statements: [
      ...accessV2,
      ...accountsV2,
      firstOwner,
      ...identityV2,
      ...outboxV2,
      ...machinesV2,
      ...logsV2,
      ...presenceV2,
      ...fragmentsV2,
      ...adminV2,
      ...instanceV2,
    ],
    sqliteOnly: auditGuard.sqlite,
    postgresOnly: auditGuard.postgres,
  },
  { version: 3, statements: [...queriesV3, ...binaryV3, ...retentionV3] },
  { version: 4, statements: tabularV4 },
  { version: 5, statements: [...binaryV5] },
  // No table changes. From here on configurations are sealed, and earlier programs would mistake them for damaged ones.
  { version: 6, statements: [] },
  { version: 7, statements: tabularV7 },
  { version: 8, statements: logCursorsV8 },
  { version: 9, statements: outboxV9 },
  { version: 10, statements: packagesV10 },
  { version: 11, statements: [...machinesV11, ...packagesV11] },
  { version: 12, statements: outboxV12 },
  { version: 13, statements: gapsV13 },
  { version: 14, statements: outboxV14 },
  { version: 15, statements: triggersV15 },
  { version: 16, statements: accountsV16 },
  { version: 17, statements: logsV17 },
  { version: 18, statements: accountsV18 },
  { version: 19, statements: gapsV19 },
  { version: 20, statements: machinesV20 },
  { version: 21, statements: outboxV21 },
  { version: 22, statements: presenceV22 },
  { version: 23, statements: [...billingV23, ...logsV23] },
  {
    version: 24,
    statements: invoicesV24,
    sqliteOnly: invoiceGuard.sqlite,
    postgresOnly: invoiceGuard.postgres,
  },
  { version: 25, statements: outboxV25 },
  { version: 26, statements: triggersV26 },
  { version: 27, statements: invoicesV27 },
  { version: 28, statements: paymentsV28 },
  { version: 29, statements: outboxV29 },
  { version: 30, statements: dunningV30 },
  { version: 31, statements: [], sqliteOnly: usageHoursV31 },
  {
    version: 32,
    statements: accessV32,
    sqliteOnly: auditChainGuard.sqlite,
    postgresOnly: auditChainGuard.postgres,
  },
  { version: 33, statements: machinesV33 },
  { version: 34, statements: dunningV34 },
  { version: 35, statements: [...rowChecksDdl, ...binaryChecked.map(addRowCheck)], checked: binaryChecked },
  { version: 36, statements: checkedV36.map(addRowCheck), checked: checkedV36 },
  { version: 37, statements: tabularV37 },
  { version: 38, statements: checkedV38.map(addRowCheck), checked: checkedV38 },
  { version: 39, statements: chargeRequestsV39, checked: [chargeRequests] },
  { version: 40, statements: [...binaryV40, retentionOwners, ...checkedV40.map(addRowCheck)], checked: checkedV40 },
  { version: 41, statements: outboxV41 },
  { version: 42, statements: presenceV42 },
  { version: 43, statements: [...binaryV43, ...checkedV43.map(addRowCheck)], checked: checkedV43 },
  { version: 44, statements: checkedV44.map(addRowCheck), checked: checkedV44 },
  { version: 45, ...binaryV45, checked: [files] },
];
