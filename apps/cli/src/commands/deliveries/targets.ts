/** `platform deliveries paused|pause|resume`: targets that temporarily get no deliveries. */
import type { PausedTarget } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { presenter, timeOf } from '../../results/presenters.ts';

const { fields, shape } = presenter<PausedTarget>({
  target: (one) => one.target,
  paused_at: (one) => timeOf(one.pausedAt),
  waiting: (one) => one.waiting,
  reason: (one) => one.reason,
});

export function pausedCommand(): Command {
  return defineCommand(
    new Command('paused').description('list the paused targets, and how many notifications wait for each'),
    { examples: ['platform deliveries paused', 'platform deliveries paused --json=target,waiting'], fields },
    async ({ cloud, find, out }) => {
      const { id: organizationId } = await find.organization();
      const { targets } = await (await cloud()).triggers.listPausedTargets({ organizationId });
      out.rows(targets.map(shape), fields);
    },
  );
}

export function pauseCommand(): Command {
  return defineCommand(
    new Command('pause')
      .description('stop sending to a target until it is resumed; notifications wait up to 30 days')
      .argument('<target>', 'URL or address, as configured in a trigger')
      .option('--reason <text>', 'shown in the list of paused targets'),
    { examples: ['platform deliveries pause https://hooks.example.com/alerts --reason "moves on Monday"'], fields },
    async ({ cloud, find, out }, flags, target = '') => {
      const { id: organizationId } = await find.organization();
      const reason = String(flags['reason'] ?? '');
      const paused = await (await cloud()).triggers.pauseTarget({ organizationId, target, reason });
      if (paused.target !== undefined) out.object(shape(paused.target));
    },
  );
}

export function resumeCommand(): Command {
  return defineCommand(
    new Command('resume')
      .description('resume sending to a target, beginning with the notifications that wait for it')
      .argument('<target>', 'as "deliveries paused" prints it, or as configured'),
    { examples: ['platform deliveries resume https://hooks.example.com/alerts'], fields: ['target', 'deliveries'] },
    async ({ cloud, find, out }, _flags, target = '') => {
      const { id: organizationId } = await find.organization();
      const { deliveries } = await (await cloud()).triggers.resumeTarget({ organizationId, target });
      out.object({ target, deliveries });
    },
  );
}
