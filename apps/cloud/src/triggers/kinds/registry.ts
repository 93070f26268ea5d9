/** All kinds of triggers. */
import { conditionalData } from './conditional-data.ts';
import { dataIngested } from './data-ingested.ts';
import type { TriggerKind } from './kind.ts';
import { logsIngested } from './logs-ingested.ts';
import { captureStopped, configNotApplied, credentialExpiring, dataDiscarded, syncBehind } from './machine-facts.ts';
import { partOffline, partOnline } from './part-status.ts';

/** Indexed by the type of their event (D18). */
export const triggerKinds: ReadonlyMap<string, TriggerKind> = new Map(
  [
    ...[dataIngested, conditionalData, partOnline, partOffline, logsIngested],
    ...[captureStopped, dataDiscarded, syncBehind, configNotApplied, credentialExpiring],
  ].map((kind) => [kind.type, kind]),
);
