/** `platform admin webhooks`: programs on the computer of the cloud that webhooks of an organization may reach. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { group } from '../../invocation/define-command.ts';
import { type Ask, defineAdminCommand, organizationNamed, organizationsOf, timeText } from './define-admin-command.ts';

const fields = ['organization', 'organization_id', 'target', 'source', 'allowed_at', 'ignored_because'];

interface AllowedTarget {
  readonly organizationId: string | null;
  readonly target: string;
  readonly isOption: boolean;
  readonly allowedMs: number | null;
  readonly ignoredBecause: string | null;
}

export function adminWebhooksCommand(): Command {
  return group('webhooks', 'programs on this computer that webhooks of an organization may reach', [
    allow(),
    list(),
    disallow(),
  ]);
}

function allow(): Command {
  return defineAdminCommand(
    new Command('allow')
      .description('allow a loopback address and port as a target of webhooks of one organization')
      .argument('<organization>', 'name or id')
      .argument('<target>', 'address and port, such as 127.0.0.1:1880'),
    { examples: ['platform admin webhooks allow "My organization" 127.0.0.1:1880'], fields },
    (ask, context, _flags, organization = '', target = '') =>
      change(ask, context, 'webhooks.allow', organization, target),
  );
}

function list(): Command {
  return defineAdminCommand(
    new Command('list')
      .description('list the allowed targets, with those of the option --webhook-allow')
      .argument('[organization]', 'name or id (default: all)'),
    { examples: ['platform admin webhooks list'], fields },
    async (ask, context, _flags, organization) => {
      const of = organization === undefined ? {} : { organizationId: (await organizationNamed(ask, organization)).id };
      await show(ask, context, (await ask('webhooks.list', of)) as AllowedTarget[]);
    },
  );
}

function disallow(): Command {
  return defineAdminCommand(
    new Command('disallow')
      .description('no longer allow a target; the next attempt is refused')
      .argument('<organization>', 'name or id')
      .argument('<target>', 'address and port, such as 127.0.0.1:1880'),
    { examples: ['platform admin webhooks disallow "My organization" 127.0.0.1:1880'], fields },
    (ask, context, _flags, organization = '', target = '') =>
      change(ask, context, 'webhooks.disallow', organization, target),
  );
}

async function change(
  ask: Ask,
  context: Context,
  operation: string,
  organization: string,
  target: string,
): Promise<void> {
  const { id: organizationId } = await organizationNamed(ask, organization);
  await show(ask, context, (await ask(operation, { organizationId, target })) as AllowedTarget[]);
}

async function show(ask: Ask, { out }: Context, targets: readonly AllowedTarget[]): Promise<void> {
  const names = new Map((await organizationsOf(ask)).map(({ id, name }) => [id, name]));
  const rows = targets.map(
    ({ organizationId, target, isOption, allowedMs, ignoredBecause }): JsonObject => ({
      organization: names.get(organizationId ?? '') ?? null,
      organization_id: organizationId,
      target,
      source: isOption ? '--webhook-allow' : 'platform admin webhooks allow',
      allowed_at: timeText(allowedMs),
      ignored_because: ignoredBecause,
    }),
  );
  out.rows(rows, ['organization', 'target', 'source', 'allowed_at', 'ignored_because']);
}
