import { PlatformError, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choices } from '../../invocation/choice.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { scopeOf } from '../../invocation/scope.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { deliveryResult } from './delivery.ts';
import { deliveryFilter, selectingOptions } from './list.ts';

export function retryCommand(): Command {
  return defineCommand(
    new Command('retry')
      .description('send a notification again under the same id; one that waits for its next attempt is sent now')
      .argument('<id>', 'as "deliveries list" prints it'),
    { examples: ['platform deliveries retry msg_0f3a'], fields: deliveryResult.fields },
    async (context, _flags, id = '') => {
      const { delivery } = await (await context.cloud()).triggers.retryDelivery({ id });
      if (delivery === undefined) return;
      const shown = deliveryResult.shape(delivery);
      const { attempts: _attempts, ...facts } = shown;
      context.out.object(context.out.style.json === false ? facts : shown);
      context.out.note(`see the outcome with: platform deliveries get ${id}`);
    },
  );
}

export function replayCommand(): Command {
  return defineCommand(
    selectingOptions(
      new Command('replay').description(
        'send the failed notifications of a time range again, under the same ids; says how many, and asks',
      ),
    )
      .addOption(
        choices('--state <states>', 'failed, delivered, or both separated by a comma (default: failed)', [
          'failed',
          'delivered',
        ]),
      )
      .option('--max <number>', 'fail if there are more than this', '1000')
      .option('--dry-run', 'only show how many'),
    {
      examples: [
        'platform deliveries replay --since 2h --dry-run',
        'platform deliveries replay --trigger overheated --since 2026-01-02T08:00:00Z --until 2026-01-02T09:00:00Z',
        'platform deliveries replay --part press-7 --since 24h --state failed,delivered --yes',
      ],
      fields: ['deliveries', 'dry_run'],
    },
    async (context, flags) => {
      if (flags['since'] === undefined)
        throw new PlatformError('invalid_argument', '--since: expected the beginning of the time range, found nothing');
      const maxDeliveries = limitOf(flags['max'], '--max');
      // Without --until, exactly the deliveries that were counted are sent again.
      const filter = deliveryFilter({ until: new Date(systemClock.now()).toISOString(), ...flags });
      const asked = { scope: await scopeOf(context, flags), ...filter, maxDeliveries };
      const { triggers: service } = await context.cloud();
      const { deliveries: found } = await service.replayDeliveries({ ...asked, dryRun: true });
      if (flags['dryRun'] === true) return context.out.object({ deliveries: found, dry_run: true });
      if (found > maxDeliveries)
        throw new PlatformError(
          'failed_precondition',
          `expected at most ${maxDeliveries} notifications, found more; name a shorter time range, or more with --max`,
        );
      if (found > 0) await context.confirm(`Send ${found} notifications again?`);
      const { deliveries } = found === 0 ? { deliveries: 0 } : await service.replayDeliveries(asked);
      context.out.object({ deliveries, dry_run: false });
    },
  );
}
