/** `platform data gaps`: the readings of a part, or of all parts of an organization, that were not captured or not kept. */
import { type Gap, GapReason } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../invocation/choice.ts';
import { defineCommand } from '../invocation/define-command.ts';
import { readPages } from '../invocation/read-pages.ts';
import { timeRange } from '../invocation/time-range.ts';
import { limitOf } from '../invocation/whole-number.ts';
import { type Presenter, presenter, timeOf } from '../results/presenters.ts';

const reasons: Readonly<Record<string, GapReason>> = {
  missed: GapReason.MISSED,
  'queue-full': GapReason.QUEUE_FULL,
  crash: GapReason.CRASH,
  discarded: GapReason.DISCARDED,
  'too-large': GapReason.TOO_LARGE,
  failed: GapReason.FAILED,
  damaged: GapReason.DAMAGED,
  refused: GapReason.REFUSED,
  unwritten: GapReason.UNWRITTEN,
};

const gapResult: Presenter<Gap> = presenter({
  start: (one) => timeOf(one.start),
  end: (one) => timeOf(one.end),
  readings: (one) => Number(one.readings),
  reason: (one) => Object.keys(reasons).find((name) => reasons[name] === one.reason) ?? String(one.reason),
  resource: (one) => one.componentName,
  type: (one) => one.componentType,
  method: (one) => one.methodName,
  part_id: (one) => one.partId,
});

const pageLimit = 1_000;

export function gapsCommand(): Command {
  return defineCommand(
    new Command('gaps')
      .description(
        'list readings of a part, or of all parts of the organization, that were not captured or not kept, newest first, with the reason',
      )
      .option('--part <part>', 'id, Machine/part, or a machine (for its main part); default: all parts')
      .option('--resource <name>', 'only of this resource; core:component:sensor/NAME if several have the name')
      .option('--method <name>', 'only of this capture method')
      .addOption(choices('--reason <reasons>', 'only for these reasons, separated by commas', Object.keys(reasons)))
      .option('--since <when>', 'gaps that end after this time: a duration such as 24h, or a time')
      .option('--until <when>', 'gaps that start before this time: a duration such as 1h, or a time')
      .option('--limit <number>', 'maximum number of gaps', '50'),
    {
      examples: [
        'platform data gaps --since 24h',
        'platform data gaps --part press-7 --since 24h',
        'platform data gaps --part press-7 --resource oven --reason crash,discarded --json=start,end,readings',
      ],
      fields: gapResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const resource = String(flags['resource'] ?? '');
      const slash = /^[^:/]+:[^:/]+:[^:/]+\//.test(resource) ? resource.indexOf('/') : -1;
      const wanted = {
        ...(flags['part'] === undefined
          ? { organizationId: (await context.find.organization()).id }
          : { partId: (await context.find.ownPart(String(flags['part']))).id }),
        componentType: slash < 0 ? '' : resource.slice(0, slash),
        componentName: resource.slice(slash + 1),
        methodName: String(flags['method'] ?? ''),
        reasons: ((flags['reason'] ?? []) as readonly string[]).flatMap((name) => reasons[name] ?? []),
        ...timeRange(flags),
      };
      const { gaps: service } = await context.cloud();
      const found = await readPages(most + 1, pageLimit, async (limit, pageToken) => {
        const { gaps, nextPageToken } = await service.listGaps({ ...wanted, limit, pageToken });
        return { items: gaps, nextPageToken };
      });
      const hasMore = found.length > most;
      context.out.rows(found.slice(0, most).map(gapResult.shape), gapResult.fields);
      if (hasMore) context.out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}
