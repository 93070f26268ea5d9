/** Summarizes what a dry run found about one trigger, in bounded memory. */
import type { TriggerDecision } from '../evaluate.ts';
import { messageIdsOf } from '../messages-of.ts';
import type { Trigger } from '../trigger.ts';
import type { DryRunSink } from './dry-run.ts';

export interface DryRunOccurrence {
  readonly outcome: TriggerDecision['outcome'];
  readonly atMs: number;
  /** Human-readable. */
  readonly reason: string;
  /** In the order of the trigger's notifications. */
  readonly notifications: readonly {
    readonly suppressed: 'interval' | 'not-told' | undefined;
    /** The id that the message has or would have had live. Empty: suppressed. */
    readonly messageId: string;
  }[];
}

export interface DryRunSummary {
  readonly fired: number;
  readonly recovered: number;
  /** Notifications: one occurrence may cause several. */
  readonly sent: number;
  readonly suppressedByInterval: number;
  /** Recoveries whose target had not been notified that the trigger fired. */
  readonly suppressedAsNotTold: number;
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** The first ones. */
  readonly occurrences: readonly DryRunOccurrence[];
  readonly uploads: number;
  readonly readings: number;
  readonly lines: number;
}

/** @param most occurrences that are kept; the counts cover all */
export function summarizer(
  partId: string,
  trigger: Trigger,
  most: number,
): DryRunSink & { readonly summary: () => DryRunSummary } {
  const counts = { fired: 0, recovered: 0, sent: 0, suppressedByInterval: 0, suppressedAsNotTold: 0 };
  const looked = { uploads: 0, readings: 0, lines: 0 };
  const occurrences: DryRunOccurrence[] = [];
  let firstMs: number | undefined;
  let lastMs: number | undefined;
  return {
    decided(decision) {
      const { outcome, atMs, reason, notifications } = decision;
      counts[outcome] += 1;
      firstMs ??= atMs;
      lastMs = atMs;
      for (const { suppressed } of notifications) {
        if (suppressed === undefined) counts.sent += 1;
        else if (suppressed === 'interval') counts.suppressedByInterval += 1;
        else counts.suppressedAsNotTold += 1;
      }
      if (occurrences.length >= most) return;
      const ids = messageIdsOf(partId, trigger, decision);
      occurrences.push({
        ...{ outcome, atMs, reason },
        notifications: notifications.map(({ suppressed }, index) => ({
          suppressed,
          messageId: suppressed === undefined ? (ids[index] ?? '') : '',
        })),
      });
    },
    read({ uploads, readings, lines }) {
      looked.uploads += uploads;
      looked.readings += readings;
      looked.lines += lines;
    },
    summary: () => ({ ...counts, ...looked, firstMs, lastMs, occurrences }),
  };
}
