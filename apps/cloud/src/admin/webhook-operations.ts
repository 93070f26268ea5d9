/** Loopback targets of webhooks (D43). */
import type { Clock } from '@platform/base';
import type { AllowedTargets } from './allowed-targets.ts';
import type { Operations } from './control-channel.ts';

export function webhookOperations(deps: {
  readonly allowedTargets: AllowedTargets;
  readonly clock: Pick<Clock, 'now'>;
}): Operations {
  const { allowedTargets, clock } = deps;
  return {
    'webhooks.allow': async ({ text, actor }) => {
      await allowedTargets.allow(text('organizationId'), text('target'), actor, clock.now());
      return allowedTargets.list(text('organizationId'));
    },
    'webhooks.list': ({ optionalText }) => allowedTargets.list(optionalText('organizationId')),
    'webhooks.disallow': async ({ text, actor }) => {
      await allowedTargets.disallow(text('organizationId'), text('target'), actor, clock.now());
      return allowedTargets.list(text('organizationId'));
    },
  };
}

/** For the status: one text for each. */
export async function allowedTargetTexts(
  allowedTargets: Pick<AllowedTargets, 'list'>,
  organizations: readonly { readonly id: string; readonly name: string }[],
): Promise<string[]> {
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  return (await allowedTargets.list()).map(({ organizationId, target, isOption, ignoredBecause }) => {
    const whose = organizationId === null ? '' : ` for ${names.get(organizationId) ?? organizationId}`;
    const why = ignoredBecause === null ? '' : `, ignored: ${ignoredBecause}`;
    return `${target}${whose}${isOption ? ' (--webhook-allow)' : ''}${why}`;
  });
}
