import type { DeliveryState, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import { defineCommand, type Flags } from '../../invocation/define-command.ts';
import { readPages } from '../../invocation/read-pages.ts';
import { scopeOf, scopeOptions } from '../../invocation/scope.ts';
import { timeRange } from '../../invocation/time-range.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { channels, deliveryResult, deliveryRow, deliveryStates } from './delivery.ts';

const pageSize = 200;

type Timestamp = ReturnType<typeof timestampFromDate>;

/** Options that select deliveries, besides their states. */
export function selectingOptions(command: Command): Command {
  return scopeOptions(command)
    .option('--trigger <name>', 'only triggers with this name')
    .addOption(choices('--channel <channels>', 'only these channels, separated by commas', channels))
    .option('--since <when>', 'created since this time: a duration such as 24h, or a time')
    .option('--until <when>', 'created before this time: a duration such as 1h, or a time');
}

interface DeliveryFilter {
  readonly triggerName: string;
  readonly states: DeliveryState[];
  readonly channels: string[];
  readonly start?: Timestamp;
  readonly end?: Timestamp;
}

/** Their values as in the requests of the cloud. */
export function deliveryFilter(flags: Flags): DeliveryFilter {
  return {
    triggerName: String(flags['trigger'] ?? ''),
    states: ((flags['state'] ?? []) as readonly string[]).flatMap((name) => deliveryStates[name] ?? []),
    channels: [...((flags['channel'] ?? []) as readonly string[])],
    ...timeRange(flags),
  };
}

export function listCommand(): Command {
  return defineCommand(
    selectingOptions(new Command('list').description('list notifications, newest first, with their attempts'))
      .addOption(choices('--state <states>', 'only in these states, separated by commas', Object.keys(deliveryStates)))
      .option('--limit <number>', 'maximum number of deliveries', '50'),
    {
      examples: [
        'platform deliveries list',
        'platform deliveries list --part press-7 --state failed --since 24h',
        'platform deliveries list --trigger overheated --json=id,target,state,attempts',
      ],
      fields: deliveryResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const asked = { scope: await scopeOf(context, flags), ...deliveryFilter(flags) };
      const { triggers: service } = await context.cloud();
      const found = await readPages(most + 1, async (room, pageToken = '') => {
        const limit = Math.min(room, pageSize);
        const { deliveries, nextPageToken } = await service.listDeliveries({ ...asked, limit, pageToken });
        return { items: deliveries, nextPageToken };
      });
      const { out } = context;
      out.rows(found.slice(0, most).map(out.style.json === false ? deliveryRow : deliveryResult.shape), [
        'created_at',
        'trigger',
        'channel',
        'target',
        'state',
        'attempts',
        'answer',
        'id',
      ]);
      if (found.length > most) out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}
