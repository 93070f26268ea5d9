/**
 * Every version of the metadata's tables: the baseline, collected from the features that own the tables, and what changed after it. A
 * released version never changes; how the next one is written stands in ADR-0077.
 */
import { accessSchema } from '../access/store.ts';
import { accountsSchema } from '../accounts/store.ts';
import { adminSchema } from '../admin/store.ts';
import { billingSchema } from '../billing/store.ts';
import { binarySchema } from '../binary/store.ts';
import { logCursorsSchema } from '../follow-log/store.ts';
import { fragmentsSchema } from '../fragments/store.ts';
import { gapsSchema } from '../gaps/store.ts';
import { identitySchema } from '../identity/store.ts';
import { instanceSchema } from '../instance/store.ts';
import { logsSchema } from '../machines/logs/store.ts';
import { presenceSchema } from '../machines/presence/store.ts';
import { machinesSchema } from '../machines/store.ts';
import { outboxSchema } from '../outbox/store.ts';
import { packagesSchema } from '../packages/store.ts';
import { queriesSchema } from '../queries/store.ts';
import { retentionSchema } from '../retention/store.ts';
import { tabularSchema } from '../tabular/store.ts';
import { triggersSchema } from '../triggers/store.ts';
import { baselineVersion } from './baseline-version.ts';
import { rowChecksSchema } from './row-checks/row-check-sql.ts';
import type { Migration, Schema } from './sqlite/writer-protocol.ts';

/** A table follows those that it refers to. */
const baseline: readonly Schema[] = [
  ...[rowChecksSchema, identitySchema, accountsSchema, accessSchema, adminSchema, instanceSchema],
  ...[machinesSchema, presenceSchema, logsSchema, fragmentsSchema, packagesSchema, retentionSchema, gapsSchema],
  ...[logCursorsSchema, tabularSchema, binarySchema, queriesSchema, triggersSchema, outboxSchema, billingSchema],
];

export const migrations: readonly Migration[] = [
  {
    version: baselineVersion,
    statements: baseline.flatMap(({ statements }) => statements),
    sqliteOnly: baseline.flatMap(({ sqliteOnly = [] }) => sqliteOnly),
    postgresOnly: baseline.flatMap(({ postgresOnly = [] }) => postgresOnly),
    checked: baseline.flatMap(({ checked = [] }) => checked),
  },
];
