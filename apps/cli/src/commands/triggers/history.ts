/** `platform triggers history`: what triggers did, minute by minute. */
import { type JsonObject, type TriggerHistoryEntry, TriggerOutcome } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { scopeOf, scopeOptions } from '../../invocation/scope.ts';
import { timeRange } from '../../invocation/time-range.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';

/** docs/specs/states.md says what makes each true. */
export const outcomes: Readonly<Record<string, TriggerOutcome>> = {
  fired: TriggerOutcome.FIRED,
  recovered: TriggerOutcome.RECOVERED,
  failed: TriggerOutcome.FAILED,
};
const pageSize = 1_000;

const entryResult: Presenter<TriggerHistoryEntry> = presenter<TriggerHistoryEntry>({
  minute: (one) => timeOf(one.minute),
  trigger: (one) => one.triggerName,
  outcome: (one) => Object.keys(outcomes).find((name) => outcomes[name] === one.outcome) ?? String(one.outcome),
  subject: (one) => one.subject || null,
  count: (one) => Number(one.count),
  sent: (one) => Number(one.sent),
  suppressed_by_interval: (one) => Number(one.suppressedByInterval),
  suppressed_as_not_told: (one) => Number(one.suppressedAsNotTold),
  last_at: (one) => timeOf(one.lastAt),
  reason: (one) => one.reason,
  part_id: (one) => one.partId,
});

export function historyCommand(): Command {
  return defineCommand(
    scopeOptions(
      new Command('history').description('list what triggers did in the last 30 days, minute by minute, newest first'),
    )
      .option('--trigger <name>', 'only triggers with this name')
      .addOption(choices('--outcome <outcomes>', 'only these, separated by commas', Object.keys(outcomes)))
      .option('--since <when>', 'since this time: a duration such as 24h, or a time')
      .option('--until <when>', 'before this time: a duration such as 1h, or a time')
      .option('--limit <number>', 'maximum number of entries', '100'),
    {
      examples: [
        'platform triggers history',
        'platform triggers history --part press-7 --trigger hot --since 24h',
        'platform triggers history --outcome failed --json=minute,trigger,reason',
      ],
      fields: entryResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const asked = {
        scope: await scopeOf(context, flags),
        triggerName: String(flags['trigger'] ?? ''),
        outcomes: ((flags['outcome'] ?? []) as readonly string[]).flatMap((name) => outcomes[name] ?? []),
        ...timeRange(flags),
      };
      const { triggers: service } = await context.cloud();
      const found = await readPages(most + 1, pageSize, async (limit, pageToken) => {
        const { entries, nextPageToken } = await service.getTriggerHistory({ ...asked, limit, pageToken });
        return { items: entries, nextPageToken };
      });
      const { out } = context;
      const shown = found.slice(0, most).map((one): JsonObject => entryResult.shape(one));
      out.rows(shown, ['minute', 'trigger', 'outcome', 'subject', 'count', 'sent', 'suppressed_by_interval', 'reason']);
      if (found.length > most) out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}
